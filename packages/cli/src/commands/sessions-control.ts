import { EXIT } from '@agentproto/contracts'
import { connect } from '../daemon.js'
import { print, type Io } from '../io.js'
import type { KillOptions, ResumeOptions } from '../program/session-commands.js'
import { findSession } from '../session-ref.js'

/** `agentproto sessions interrupt`. */
export async function interruptSession(io: Io, ref: string): Promise<number> {
  const client = await connect(io)
  const { id } = await findSession(client, ref)
  const { wasBusy } = await client.sessions.interrupt(id)
  print(io.stderr, wasBusy ? 'The turn was interrupted.' : 'No turn was running.')
  return EXIT.ok
}

/** `agentproto sessions resume`: prints the id once the agent is ready. */
export async function resumeSession(io: Io, ref: string, { fresh = false }: ResumeOptions): Promise<number> {
  const client = await connect(io)
  const { id } = await findSession(client, ref)
  const { resumedHow } = await client.sessions.resume(id, fresh ? { fresh } : {})
  print(io.stdout, id)
  print(
    io.stderr,
    resumedHow === 'fresh' ? 'The agent runs in a new conversation.' : 'The agent runs in its old conversation.',
  )
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
