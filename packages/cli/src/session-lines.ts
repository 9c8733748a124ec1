import { isLive, type Session } from '@agentproto/contracts'
import type { Client } from '@agentproto/client'

/** A table shows the last line of at most this many sessions: each costs a call. */
const MAX_CALLS = 40
const TURN_END = /^── turn-end /

/** The last thing that each live session said, by id. What cannot be had is left out. */
export async function lastLinesOf(client: Client, sessions: readonly Session[]): Promise<Map<string, string>> {
  const asked = sessions.filter((session) => isLive(session) && session.lastOutputAt !== undefined).slice(0, MAX_CALLS)
  const entries = await Promise.all(asked.map(async ({ id }) => [id, await lastLineOf(client, id)] as const))
  return new Map(entries.flatMap(([id, line]) => (line === undefined ? [] : [[id, line]])))
}

export async function lastLineOf(client: Client, id: string): Promise<string | undefined> {
  const lines = await client.sessions.output(id, 8).catch(() => [])
  return lines.findLast(({ line }) => line.trim() !== '' && !TURN_END.test(line))?.line
}
