import { AgentprotoError, type ContentBlock, defined } from '@agentproto/contracts'
import type { AdoptedAgent, RunningAgent } from '@agentproto/contracts/agent'
import type { AdoptionSink, Expected } from '../adoption/adoption-sink.js'
import { factsOf, loggedSignals, type LoggedFacts, type LoggedPart } from '../adoption/logged-since.js'
import { LoggedRequests } from '../adoption/logged-requests.js'
import { Replay } from '../adoption/replay.js'
import { messageOf } from '../lifecycle/ending.js'
import type { Place } from '../lifecycle/gathering.js'
import { startOptionsOf } from '../lifecycle/spawn-request.js'
import type { SessionHost } from '../session-host.js'
import { eventsFrom } from '../turns/turn-log.js'
import type { Input } from './input.js'
import type { SessionHandle } from './session-handle.js'
import type { Outgoing } from './queued-prompt.js'
import { type Call, openTurn } from './state.js'

export interface Adopting {
  readonly call: Call
  /** The agent goes on when the others are here too. */
  readonly place: Place
  readonly sink: AdoptionSink
  readonly signal: AbortSignal
  /** Whether the agent is left to the next host: then nothing of it is posted any more. */
  readonly isLeft: () => boolean
  readonly attach: (agent: RunningAgent) => void
}

/** Goes on with the agent of an earlier host, and posts how that went. Never rejects. */
export async function adoptAgent(session: SessionHandle, host: SessionHost, adopting: Adopting): Promise<void> {
  const { call, place, sink, signal, isLeft, attach } = adopting
  try {
    const options = startOptionsOf(session.state, { origin: { how: 'new' }, signal })
    const { process } = session.state
    const agent = await host.adoptAgent?.({ ...options, ...defined({ process }) }, sink)
    if (agent === undefined) throw new AgentprotoError('not_adoptable', 'No agent of the session is kept')
    const logged = await loggedSince(session, agent.mark)
    const prompt = await openPrompt(session)
    await place()
    attach(agent)
    const running = agent.begin()
    // A turn whose prompt was not sent was ended by the host: the agent has nothing to say about it.
    const turn = running && logged.turn
    const expected = expectedOf(logged, { turn, redact: host.redact })
    const isOpen = running !== undefined && turn === openTurn(session.state)?.number
    await session.post({
      type: 'adopted',
      call,
      adoption: {
        agent,
        running: running && { turn, isCancelled: running.cancelling },
        unsent: isOpen ? undefined : prompt,
      },
    })
    sink.open(expected)
    void goOn(session, { agent, sink, turn, isLeft, done: running?.done })
  } catch (error) {
    await session.post({ type: 'adoption-failed', call, error })
  }
}

interface GoingOn extends Pick<Adopting, 'sink' | 'isLeft'> {
  readonly agent: Pick<AdoptedAgent, 'caughtUp'>
  readonly turn: number | undefined
  readonly done: Promise<void> | undefined
}

/** Posts what becomes of the turn that the agent works on. */
async function goOn(session: SessionHandle, { agent, sink, turn = 0, isLeft, done }: GoingOn): Promise<void> {
  // A request that was asked again after the host had left its agents looks as if it was not.
  const post = (input: Input): Promise<void> => (isLeft() ? Promise.resolve() : session.post(input))
  const caughtUp = agent.caughtUp.then(() => sink.caughtUp()).then(() => post({ type: 'caught-up' }))
  const failure = await (done ?? Promise.resolve()).then(
    () => ({}),
    (thrown: unknown) => ({ error: messageOf(thrown) }),
  )
  await caughtUp
  await sink.turnOver()
  await post({ type: 'send-settled', turn, ...failure })
}

interface Logged {
  readonly part: LoggedPart
  readonly facts: LoggedFacts
  /** The turn that is emitted again, if its prompt was sent. */
  readonly turn: number | undefined
}

/** What the log has of what the agent will emit again. Where events of it are lost, the comparison will say so. */
async function loggedSince({ log, turns }: SessionHandle, mark: number): Promise<Logged> {
  const part: LoggedPart = { log, mark, end: log.lastSeq }
  const facts = await factsOf(part).catch(() => NO_FACTS)
  const open = turns.all.find(({ firstSeq, lastSeq = Infinity }) => firstSeq <= mark && lastSeq > mark)
  return { part, facts, turn: open?.number ?? facts.begun[0] }
}

function expectedOf(
  { part, facts: { requests, givenUp } }: Logged,
  { turn, redact }: Pick<Expected, 'turn' | 'redact'>,
): Expected {
  return {
    turn,
    redact,
    replay: new Replay((lane) => loggedSignals(part, { turn, lane }), redact),
    requests: new LoggedRequests(requests),
    isGivenUp: turn !== undefined && givenUp.includes(turn),
  }
}

const NO_FACTS: LoggedFacts = { requests: [], begun: [], givenUp: [] }

/** The prompt of the open turn as its agent gets it; undefined when none is open. */
async function openPrompt(session: SessionHandle): Promise<Outgoing | undefined> {
  const { current } = session.turns
  if (current === undefined) return undefined
  for await (const event of eventsFrom(session, current.firstSeq)) {
    if (event.type !== 'user-prompt') break
    const { content, preface = [], traceparent } = event
    const before = preface.map(({ text }): ContentBlock => ({ type: 'text', text }))
    return { content: [...before, ...content], ...(traceparent === undefined ? {} : { trace: { traceparent } }) }
  }
  throw new AgentprotoError('not_adoptable', 'The prompt of the running turn is lost')
}
