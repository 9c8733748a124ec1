import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client, SessionEvent } from '@agentproto/client'
import { expect } from 'vitest'
import { type Daemon, startDaemon } from './daemon.js'
import { type Mark, newMark } from './marked-processes.js'
import { temporaryFolder } from './temporary-folder.js'

/** The gateways of one home, one after the other. */
export interface Succession {
  readonly home: string
  /** In the environment of every agent. */
  readonly mark: Mark
  readonly first: Daemon
  /** Starts the next gateway, at the address of the first. */
  readonly next: () => Promise<Daemon>
}

export interface SuccessionOptions {
  readonly config?: object
  readonly env?: Readonly<Record<string, string>>
  /** Called before its first gateway starts. */
  readonly prepare?: (home: string) => unknown
}

/** A new home whose gateway keeps its agents, and its first gateway. */
export async function startKeeping(
  name: string,
  { config = {}, env: more = {}, prepare }: SuccessionOptions = {},
): Promise<Succession> {
  const home = keepingHome(name, config)
  await prepare?.(home)
  const mark = newMark()
  const env = { AGENTPROTO_DEMO_HOME: join(home, 'demo'), ...more, ...mark.env }
  const first = await startDaemon({ home, env })
  const { port } = new URL(first.url)
  return { home, mark, first, next: () => startDaemon({ home, env, args: ['--port', port] }) }
}

/** A new home whose gateway keeps its agents. */
export function keepingHome(name: string, config: object = {}): string {
  const home = temporaryFolder(name)
  const own = join(home, '.agentproto')
  if (!existsSync(own)) mkdirSync(own, { mode: 0o700 })
  const text = JSON.stringify({ keeper: true, checkpoints: { enabled: false }, ...config })
  writeFileSync(join(own, 'config.json'), text, { mode: 0o600 })
  return home
}

/** Agents of a session, by their processes. */
export const agentsIn = (living: readonly string[], id: string): readonly string[] =>
  living.filter((line) => sessionOf(line) === id)

/**
 * The agents of a session, without the processes that an agent starts for a moment, among which are its own forks that do
 * not yet run their program: what many looks in a row agree on.
 */
export async function lastingAgentsIn(mark: Mark, id: string): Promise<readonly string[]> {
  let agents: readonly string[] = []
  let agreed = 0
  const look = (): number => {
    const before = agents
    agents = agentsIn(mark.living(), id)
    agreed = agents.length > 0 && agents.join('\n') === before.join('\n') ? agreed + 1 : 0
    return agreed
  }
  await expect.poll(look).toBeGreaterThan(20)
  return agents
}

/** Agents that several sessions share. */
export const sharedAgentsIn = (living: readonly string[]): readonly string[] =>
  living.filter((line) => sessionOf(line)?.startsWith('shared_'))

function sessionOf(line: string): string | undefined {
  const pid = line.split(' ', 1)[0] ?? ''
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
    return environment.find((entry) => entry.startsWith('AGENTPROTO_SESSION_ID='))?.split('=')[1]
  } catch {
    return undefined
  }
}

/** How many turns of a session have ended. */
export const endedTurns = async (client: Client, id: string): Promise<number> =>
  (await client.sessions.turns(id)).filter(({ state }) => state === 'ended').length

/** The whole log of a session. */
export async function allEvents(client: Client, id: string): Promise<readonly SessionEvent[]> {
  const all: SessionEvent[] = []
  for (;;) {
    const { events } = await client.sessions.eventsPage(id, all.at(-1)?.seq ?? 0)
    if (events.length === 0) return all
    all.push(...events)
  }
}

export const ofType = <T extends SessionEvent['type']>(events: readonly SessionEvent[], type: T) =>
  events.filter((event): event is Extract<SessionEvent, { readonly type: T }> => event.type === type)

/** The agent's text. */
export const textIn = (events: readonly SessionEvent[]): string =>
  ofType(events, 'text-delta')
    .map(({ text }) => text)
    .join('')

/** 1, 2, 3 … as far as there are events. */
export const numbersOf = (events: readonly SessionEvent[]): readonly number[] => events.map((_, at) => at + 1)
