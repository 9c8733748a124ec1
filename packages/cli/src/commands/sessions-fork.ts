import { EXIT } from '@agentproto/contracts'
import { connect } from '../daemon/daemon.js'
import { print, printJson, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { withProgress } from '../progress.js'
import { promptOf } from '../prompt/prompt-text.js'
import { findSession } from '../session-ref.js'

export interface ForkOptions extends JsonOption {
  readonly prompt?: string
  readonly label?: string
}

/** `agentproto sessions fork`: prints the id of the new session. */
export async function forkSession(io: Io, ref: string, { prompt, label, json }: ForkOptions): Promise<number> {
  const first = prompt === undefined ? {} : { prompt: await promptOf(io, prompt) }
  const client = await connect(io)
  const { id } = await findSession(client, ref)
  const request = { ...first, ...(label === undefined ? {} : { label }) }
  const session = await withProgress(io, 'Forking', () => client.sessions.fork(id, request))
  if (json === true) printJson(io, session)
  else print(io.stdout, session.id)
  return EXIT.ok
}
