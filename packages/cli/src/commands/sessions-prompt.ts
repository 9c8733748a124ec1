import { EXIT } from '@agentproto/contracts'
import { connect } from '../daemon/daemon.js'
import { print, printJson, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { orNextStep, promptSteps } from '../next-step.js'
import type { WhenBusy } from '../program/option-values.js'
import { promptOf } from '../prompt/prompt-text.js'
import { findSession } from '../session-ref.js'
import { driveTurn } from '../turn/drive-turn.js'
import { TurnLimits } from '../turn/turn-limits.js'
import type { OutputMode } from '../turn/turn-output.js'

export interface PromptOptions extends JsonOption {
  readonly whenBusy?: WhenBusy
  readonly wait?: boolean
  readonly output: OutputMode
  readonly timeout?: number
}

/** `agentproto sessions prompt`: sends, or with `--wait` follows the turn as `run` does. */
export async function promptSession(
  io: Io,
  { ref, text }: { readonly ref: string; readonly text: string },
  { wait, json, output, timeout, whenBusy }: PromptOptions,
): Promise<number> {
  const prompt = await promptOf(io, text)
  const client = await connect(io)
  const session = await findSession(client, ref)
  if (wait === true) {
    const limits = new TurnLimits(timeout)
    const seeMore = `agentproto sessions events ${session.id}`
    const mode = json === true ? 'json' : output
    const request = { client, session, prompt, whenBusy, output: mode, limits, seeMore }
    return orNextStep(promptSteps(ref), () => driveTurn(io, request)).finally(() => limits.release())
  }
  const accepted = await orNextStep(promptSteps(ref), () =>
    client.sessions.prompt(session.id, { prompt, ...(whenBusy && { whenBusy }) }),
  )
  if (json === true) printJson(io, accepted)
  else print(io.stdout, String(accepted.turn))
  return EXIT.ok
}
