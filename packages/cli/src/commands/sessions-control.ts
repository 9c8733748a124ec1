import { EXIT } from '@agentproto/contracts'
import { connect } from '../daemon.js'
import { print, type Io } from '../io.js'
import type { KillOptions } from '../program/session-commands.js'
import { findSession } from '../session-ref.js'

/** `agentproto sessions interrupt`. */
export async function interruptSession(io: Io, ref: string): Promise<number> {
  const client = await connect(io)
  const { id } = await findSession(client, ref)
  const { wasBusy } = await client.sessions.interrupt(id)
  print(io.stderr, wasBusy ? 'The turn was interrupted.' : 'No turn was running.')
  return EXIT.ok
}

/** `agentproto sessions kill`: prints each id once its processes are gone. */
export async function killSessions(io: Io, refs: readonly string[], { reason }: KillOptions): Promise<number> {
  const client = await connect(io)
  for (const ref of refs) {
    const { id } = await findSession(client, ref)
    const { ok } = await client.sessions.kill(id, reason === undefined ? {} : { reason })
    print(io.stdout, id)
    if (!ok) print(io.stderr, `${id} had ended before.`)
  }
  return EXIT.ok
}

/** `agentproto sessions rm`. */
export async function removeSessions(io: Io, refs: readonly string[]): Promise<number> {
  const client = await connect(io)
  for (const ref of refs) {
    const { id } = await findSession(client, ref)
    await client.sessions.remove(id)
    print(io.stdout, id)
  }
  return EXIT.ok
}
