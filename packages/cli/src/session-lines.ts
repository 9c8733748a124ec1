import { isLive, type Session } from '@agentproto/contracts'
import type { Client } from '@agentproto/client'

/** A table shows the last line of at most this many sessions, because each costs a request. */
const MAX_REQUESTS = 40
const TURN_END = /^── turn-end /

/** The last output line of each live session, by id. Lines that cannot be read are left out. */
export async function lastLinesOf(client: Client, sessions: readonly Session[]): Promise<Map<string, string>> {
  const withOutput = sessions
    .filter((session) => isLive(session) && session.lastOutputAt !== undefined)
    .slice(0, MAX_REQUESTS)
  const entries = await Promise.all(withOutput.map(async ({ id }) => [id, await lastLineOf(client, id)] as const))
  return new Map(entries.flatMap(([id, line]) => (line === undefined ? [] : [[id, line]])))
}

export async function lastLineOf(client: Client, id: string): Promise<string | undefined> {
  const lines = await client.sessions.output(id, 8).catch(() => [])
  return lines.findLast(({ line }) => line.trim() !== '' && !TURN_END.test(line))?.line
}
