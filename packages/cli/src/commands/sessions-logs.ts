import { EXIT, type OutputLine } from '@agentproto/contracts'
import type { Client } from '@agentproto/client'
import { connect } from '../daemon/daemon.js'
import { paintOf, print, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { printable } from '../render/printable.js'
import { findSession } from '../session-ref.js'
import { interruptible } from '../signals.js'

export interface SessionLogsOptions extends JsonOption {
  readonly lines: number
  readonly follow?: boolean
}

/** The projection keeps as many. */
const KEPT = 2_000

/** `agentproto sessions logs`: the lines that a session said. */
export async function printSessionLogs(io: Io, ref: string, options: SessionLogsOptions): Promise<number> {
  const client = await connect(io)
  const { id } = await findSession(client, ref)
  const show = lineShower(io, options)
  if (options.follow === true)
    return interruptible((signal) => follow(client, { id, lines: options.lines, signal }, show))
  for (const line of await client.sessions.output(id, Math.min(KEPT, options.lines))) show(line)
  return EXIT.ok
}

async function follow(
  client: Client,
  { id, lines, signal }: { readonly id: string; readonly lines: number; readonly signal: AbortSignal },
  show: (line: OutputLine) => void,
): Promise<number> {
  let skip = Math.max(0, (await client.sessions.output(id, KEPT)).length - lines)
  for await (const item of client.sessions.stream(id, { signal })) {
    if (item.type !== 'line') continue
    if (skip > 0) skip -= 1
    else show(item.line)
  }
  return EXIT.ok
}

function lineShower(io: Io, { json }: SessionLogsOptions): (line: OutputLine) => void {
  if (json === true) return (line) => print(io.stdout, JSON.stringify(line))
  const paint = paintOf(io, io.stdout)
  const shown = io.stdout.isTTY === true ? printable : (text: string) => text
  return ({ line, stream }) => print(io.stdout, stream === 'stderr' ? paint.dim(shown(line)) : shown(line))
}
