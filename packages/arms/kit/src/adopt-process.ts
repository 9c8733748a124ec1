import { type AgentInfo, AgentprotoError, type Json } from '@agentproto/contracts'
import { readKeptFacts } from '@agentproto/contracts/agent'
import type {
  AdoptedSession,
  AgentSink,
  ArmAdoptOptions,
  ArmSession,
  KeptAgent,
  RunningTurn,
} from '@agentproto/contracts/agent'
import { keptProcess } from '@agentproto/subprocess'
import { type LineClient, type ProcessConnection, ProcessLifetime, pipesOf, type WriteLine } from './connection.js'
import type { KeptLink } from './idle-point.js'

/** What an earlier host left: {@link KeptFacts.arm}, and the whole lines that it wrote since then. */
export interface Inheritance {
  readonly facts: Json
  readonly written: readonly string[]
  readonly sink: AgentSink
  readonly link: KeptLink
}

/** What a client makes of it. */
export interface AdoptedState {
  readonly info: AgentInfo
  readonly session: ArmSession
  /** Goes on with the turn whose prompt was written; called once, before anything is read. */
  resume(): RunningTurn | undefined
  /** Settles when what was read has been emitted. */
  settled(): Promise<unknown>
}

export interface AdoptingClient extends LineClient {
  /** @throws `not_adoptable` */
  adopt(inheritance: Inheritance): AdoptedState
}

/**
 * Goes on with a kept agent that speaks a line protocol. Its output is read again from the last idle point, after `begin`.
 * @throws `not_adoptable`; the agent is left as it is
 */
export async function adoptProcess<Client extends AdoptingClient>(
  { agent, launch, limits, clock }: ArmAdoptOptions,
  sink: AgentSink,
  createClient: (write: WriteLine) => Client,
): Promise<{ connection: ProcessConnection<Client>; session: AdoptedSession }> {
  const facts = readKeptFacts(agent.facts)
  if (!facts) throw notAdoptable('Its start was not completed, or its facts cannot be read')
  const { lines, isCut } = await writtenTo(agent)
  const client = createClient((line) => kept.write(line))
  const { handlers, broken } = pipesOf(client)
  const kept = keptProcess(agent, launch.marker, { clock, graces: limits, ...handlers })
  const link = { process: kept, host: facts.host, clock }
  const state = client.adopt({ facts: facts.arm, written: lines, sink, link })
  const lifetime = new ProcessLifetime(kept, client, clock)
  void broken.then(() => lifetime.brokenSoon())
  return {
    connection: lifetime.connection(state.info),
    session: adoptedSession(state, {
      mark: facts.mark,
      caughtUp: kept.caughtUp.then(() => state.settled()).then(() => {}),
      begin: () => {
        // The agent must not take what comes next for the rest of a line.
        if (isCut) void kept.write('')
        const turn = state.resume()
        kept.begin()
        return turn
      },
    }),
  }
}

export const notAdoptable = (reason: string): AgentprotoError =>
  new AgentprotoError('not_adoptable', `The agent cannot be taken over. ${reason}`, {
    hint: 'End the agent and resume the session.',
  })

/** Most that is read again of what was written, in bytes. A keeper keeps more than this process has memory for. */
const MAX_WRITTEN_BYTES = 128 << 20

interface Written {
  readonly lines: readonly string[]
  /** Whether the last line has no end: its host was ended while it wrote it. */
  readonly isCut: boolean
}

/** What the earlier host wrote since the idle point. @throws `not_adoptable` */
export async function writtenTo(agent: KeptAgent): Promise<Written> {
  const { first, next } = agent.kept.stdin
  if (next - first > MAX_WRITTEN_BYTES)
    throw notAdoptable(
      `In its turn ${next - first} bytes were written to it, and at most ${MAX_WRITTEN_BYTES} are read again`,
    )
  const chunks: Buffer[] = []
  let size = 0
  if (next > first) {
    for await (const chunk of agent.read('stdin', first)) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= next - first) break
    }
  }
  if (size < next - first) throw notAdoptable('What was written to it is not kept')
  const lines = Buffer.concat(chunks)
    .subarray(0, next - first)
    .toString('utf8')
    .split('\n')
  const rest = lines.pop() ?? ''
  return { lines, isCut: rest !== '' }
}

export const adoptedSession = (
  { session }: Pick<AdoptedState, 'session'>,
  more: Pick<AdoptedSession, 'mark' | 'caughtUp' | 'begin'>,
): AdoptedSession => ({
  get agentSessionId() {
    return session.agentSessionId
  },
  get warnings() {
    return session.warnings
  },
  get interrupted() {
    return session.interrupted === true
  },
  send: (prompt, trace) => session.send(prompt, trace),
  cancel: () => session.cancel(),
  configure: (change) => session.configure(change),
  close: () => session.close(),
  ...more,
})
