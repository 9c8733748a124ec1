import type { AgentInfo } from '@agentproto/contracts'
import { readSharedFacts } from '@agentproto/contracts/agent'
import type {
  AdoptedProcess,
  AgentSink,
  ArmAdoptOptions,
  ArmSession,
  OpenSessionOptions,
  RunningTurn,
  SharedFacts,
  SharedSession,
} from '@agentproto/contracts/agent'
import { keptProcess } from '@agentproto/subprocess'
import { adoptedSession, notAdoptable, writtenTo } from './adopt-process.js'
import { type LineClient, pipesOf, ProcessLifetime, type WriteLine } from './connection.js'
import type { KeptLink } from './idle-point.js'

/** What an earlier host left of a process that several sessions share. */
export interface SharedInheritance {
  readonly facts: SharedFacts
  /** The whole lines that it wrote since the oldest idle point. */
  readonly written: readonly string[]
  /** A line follows that has no end: its host was ended while it wrote it. */
  readonly isCut: boolean
  readonly link: KeptLink
}

/** What a client makes of it. */
export interface SharedState {
  readonly info: AgentInfo
  /** @throws `not_adoptable` */
  adopt(
    facts: SharedSession,
    opening: Pick<OpenSessionOptions, 'cwd' | 'additionalDirectories'>,
    sink: AgentSink,
  ): SharedSessionState
  /** Called once, before anything is read. */
  begin(): void
}

/** One session of it. */
export interface SharedSessionState {
  readonly session: ArmSession
  /** Goes on with the turn whose prompt was written; called once, before anything is read. */
  resume(): RunningTurn | undefined
  /** Settles when what was read has been emitted. */
  settled(): Promise<unknown>
}

export interface SharingClient extends LineClient {
  /** @throws `not_adoptable` */
  adoptShared(inheritance: SharedInheritance): SharedState
}

/**
 * Goes on with a kept agent that speaks a line protocol, and with the sessions that share it. Its output is read again from the
 * oldest idle point, after `begin`; each session ignores what is before its own.
 * @throws `not_adoptable`; the agent is left as it is
 */
export async function adoptShared(
  { agent, launch, limits, clock }: ArmAdoptOptions,
  createClient: (write: WriteLine) => SharingClient,
): Promise<AdoptedProcess> {
  const facts = readSharedFacts(agent.facts)
  if (!facts) throw notAdoptable('What is stored of its sessions cannot be read')
  const { lines, isCut } = await writtenTo(agent)
  const client = createClient((line) => kept.write(line))
  const { handlers, broken } = pipesOf(client)
  const kept = keptProcess(agent, launch.marker, { clock, graces: limits, ...handlers })
  const link = { process: kept, host: facts.host, clock }
  const state = client.adoptShared({ facts, written: lines, isCut, link })
  const lifetime = new ProcessLifetime(kept, client, clock)
  void broken.then(() => lifetime.brokenSoon())
  return {
    connection: lifetime.connection(state.info),
    host: facts.host,
    sessions: facts.sessions,
    adopt: (key, opening, sink) => {
      const known = facts.sessions.find((each) => each.key === key)
      if (!known) throw notAdoptable('Nothing is stored of the session')
      const adopted = state.adopt(known, opening, sink)
      return adoptedSession(adopted, {
        mark: known.mark,
        caughtUp: kept.caughtUp.then(() => adopted.settled()).then(() => {}),
        begin: () => adopted.resume(),
      })
    },
    begin: () => {
      // The agent must not take what comes next for the rest of a line.
      if (isCut) void kept.write('')
      state.begin()
      kept.begin()
    },
  }
}
