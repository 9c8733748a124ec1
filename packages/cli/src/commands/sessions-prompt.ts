import { EXIT } from '@agentproto/contracts'
import { connect } from '../daemon.js'
import { print, printJson, type Io } from '../io.js'
import type { PromptOptions } from '../program/session-commands.js'
import { promptText } from '../prompt-text.js'
import { findSession } from '../session-ref.js'
import { driveTurn } from '../turn/drive-turn.js'
import { TurnLimits } from '../turn/turn-limits.js'

/** `agentproto sessions prompt`: sends, or with `--wait` follows the turn as `run` does. */
export async function promptSession(
  io: Io,
  { ref, text }: { readonly ref: string; readonly text: string },
  { wait, json, output, timeout }: PromptOptions,
): Promise<number> {
  const prompt = await promptText(io, text)
  const client = await connect(io)
  const session = await findSession(client, ref)
  if (wait === true) {
    const limits = new TurnLimits(timeout)
    const seeMore = `agentproto sessions events ${session.id}`
    const mode = json === true ? 'json' : output
    return driveTurn(io, { client, session, prompt, output: mode, limits, seeMore }).finally(() => limits.release())
  }
  const accepted = await client.sessions.prompt(session.id, { prompt })
  if (json === true) printJson(io, accepted)
  else print(io.stdout, String(accepted.turn))
  return EXIT.ok
}
