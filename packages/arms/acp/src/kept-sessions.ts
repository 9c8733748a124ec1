import { EarlierHost, IdlePoint, notAdoptable, parseLine, SharedPoints } from '@agentproto/arm-kit'
import type {
  AdoptedState,
  Inheritance,
  KeptLink,
  SharedInheritance,
  SharedMember,
  SharedSessionState,
  SharedState,
  SharedSubject,
} from '@agentproto/arm-kit'
import { type AgentCapabilities, type AgentInfo, asNumber, asRecord, asString, type Json } from '@agentproto/contracts'
import type {
  AgentSink,
  OpenSessionOptions,
  RunningTurn,
  SharedSession,
  StreamLines,
} from '@agentproto/contracts/agent'
import type { Peer } from './peer.js'
import type { NextIds } from './sdk-link.js'
import type { AcpSession } from './session.js'
import { infoOf, readProcessFacts, readSessionFacts } from './session-facts.js'
import type { ProcessFacts, SessionFacts } from './session-facts.js'

const TURN_METHODS = { prompt: 'session/prompt', cancel: 'session/cancel' }
/** Each session of a shared process has its own turns. */
const NO_TURNS = { prompt: '', cancel: '' }
/** Requests of an earlier host whose answers are handled in order with the updates. */
const SETTINGS: ReadonlySet<string> = new Set(['session/set_mode', 'session/set_model', 'session/set_config_option'])

export type Folders = Pick<OpenSessionOptions, 'cwd' | 'additionalDirectories'>

/** The sink of a session, and where it is idle if its process is kept. */
export interface KeptSink {
  readonly sink: AgentSink
  readonly idle: IdlePoint | undefined
}

/** The client as the sessions of a kept process see it. */
export interface KeptClient {
  readonly peer: Peer
  readonly info: AgentInfo
  readonly capabilities: AgentCapabilities
  readonly nextIds: NextIds
  request(method: string, params: object): Promise<unknown>
  /** Takes over what the agent reported of itself to an earlier host. */
  handshaken(info: AgentInfo): void
  /** A session with what an earlier host knew of it. */
  restore(known: SessionFacts, folders: Folders, kept: KeptSink): AcpSession
}

/** The sessions of a process that outlives this host: what is stored of them, and how a later host goes on with them. */
export class KeptSessions implements SharedSubject {
  readonly #client: KeptClient
  #link: KeptLink | undefined
  /** Of the one session of a process. */
  #idle: IdlePoint | undefined
  /** Of the sessions that share a process, with their keys there. */
  #points: SharedPoints | undefined
  readonly #keys = new Map<string, string>()

  constructor(client: KeptClient) {
    this.#client = client
  }

  keep(link: KeptLink): void {
    this.#link = link
    if (link.isShared === true) this.#points = new SharedPoints(link, this)
  }

  /** The sink of a session that is about to be opened. */
  sinkOf(sink: AgentSink, member: SharedMember | undefined): KeptSink {
    if (!this.#link) return { sink, idle: undefined }
    if (this.#points) {
      const idle = member && this.#points.join(member, sink)
      return { sink: idle ?? sink, idle }
    }
    this.#idle = new IdlePoint(sink, this.#link)
    return { sink: this.#idle, idle: this.#idle }
  }

  /** A session is open. */
  opened(sessionId: string, member: SharedMember | undefined): void {
    if (member) this.#keys.set(sessionId, member.key)
  }

  /** A session could not be opened. */
  failed(member: SharedMember | undefined): void {
    if (member) this.#points?.leave(member.key)
  }

  closed(sessionId: string): void {
    const key = this.#keys.get(sessionId)
    this.#keys.delete(sessionId)
    if (key !== undefined) this.#points?.leave(key)
  }

  async stored(): Promise<void> {
    await Promise.all([this.#idle?.stored(), this.#points?.stored()])
  }

  get lines(): StreamLines {
    return this.#client.peer.lines
  }

  /** What a later host needs of a process that several sessions share. */
  facts(): Json {
    const { info, nextIds, peer } = this.#client
    return { protocol: 'acp', info, next: nextIds, ...peer.sessionIds }
  }

  /** Goes on with the session of an earlier host, from the idle point that its facts are of. @throws `not_adoptable` */
  adopt({ facts, written, sink, link }: Inheritance, folders: Folders): AdoptedState {
    const known = readSessionFacts(facts)
    const earlier = new EarlierHost(written, TURN_METHODS)
    const { peer } = this.#client
    this.keep(link)
    this.#client.handshaken(infoOf(known))
    peer.resume(earlier, known.next)
    const kept = this.sinkOf(sink, undefined)
    const session = this.#client.restore(known, folders, kept)
    peer.goOn(session)
    return {
      info: this.#client.info,
      session,
      resume: () => {
        this.#catchUp()
        return this.#resume(session, earlier, kept)
      },
      settled: () => session.settled(),
    }
  }

  /** Goes on with a process that several sessions share. @throws `not_adoptable` */
  adoptShared({ facts, written, isCut, link }: SharedInheritance): SharedState {
    const { from, arm, sessions } = facts
    const known = readProcessFacts(arm)
    const lines = linesOf(written, from.stdin)
    this.keep({ ...link, isShared: true })
    this.#client.handshaken(infoOf(known))
    const stdin = from.stdin + written.length + (isCut ? 1 : 0)
    this.#client.peer.resume(new EarlierHost(written, NO_TURNS), nextOf(known, sessions), { ...from, stdin })
    return {
      info: this.#client.info,
      adopt: (left, folders, sink) => this.#adoptMember(left, { folders, sink, lines }),
      begin: () => {
        this.#closeUnclaimed(known)
        this.#catchUp()
      },
    }
  }

  #adoptMember(left: SharedSession, { folders, sink, lines }: Adopting): SharedSessionState {
    const { at, arm } = left
    const known = readSessionFacts(arm)
    const { agentSessionId } = known
    const earlier = new EarlierHost(linesFor(agentSessionId, at.lines.stdin, lines), TURN_METHODS)
    if (earlier.requests.some(({ method }) => method === 'session/close'))
      throw notAdoptable('Its session was being closed')
    const kept = this.sinkOf(sink, { ...left, left })
    const session = this.#client.restore(known, folders, kept)
    this.opened(agentSessionId, left)
    this.#client.peer.goOn(session, at.lines)
    return {
      session,
      resume: () => this.#resume(session, earlier, kept),
      settled: () => session.settled(),
    }
  }

  #resume(
    session: AcpSession,
    { requests, prompt, isCancelled }: EarlierHost,
    { idle }: KeptSink,
  ): RunningTurn | undefined {
    for (const call of requests) if (SETTINGS.has(call.method)) session.resumeChange(call.id, call)
    void this.#link?.process.caughtUp.then(() => idle?.watch(session))
    const turn = prompt && session.resumeTurn(prompt.id, isCancelled)
    return turn && { done: turn.done, cancelling: isCancelled }
  }

  /** Answers of the earlier host are needed until the requests have been read again. */
  #catchUp(): void {
    void this.#link?.process.caughtUp.then(() => this.#client.peer.caughtUp())
  }

  /** What belongs to sessions without a host reaches no other session, and the agent closes them. */
  #closeUnclaimed({ open, closed }: ProcessFacts): void {
    const { peer } = this.#client
    const unclaimed = open.filter((sessionId) => !this.#keys.has(sessionId))
    for (const sessionId of [...closed, ...unclaimed]) peer.remove(sessionId)
    peer.onUnclaimed = (sessionId) => this.#close(sessionId)
    for (const sessionId of unclaimed) this.#close(sessionId)
  }

  #close(sessionId: string): void {
    const { peer, capabilities } = this.#client
    peer.send('session/cancel', { sessionId })
    // Its answer changes nothing: what the agent still says of the session reaches no client.
    if (capabilities.close) this.#client.request('session/close', { sessionId }).catch(() => {})
  }
}

interface Adopting {
  readonly folders: Folders
  readonly sink: AgentSink
  readonly lines: readonly SessionLine[]
}

/** A line that an earlier host wrote, and the session that it is of. */
interface SessionLine {
  /** The number of the line. */
  readonly place: number
  readonly of: string | undefined
  readonly line: string
}

const linesOf = (written: readonly string[], from: number): readonly SessionLine[] =>
  written.map((line, at) => ({
    place: from + at + 1,
    of: asString(asRecord(asRecord(parseLine(line))['params'])['sessionId']),
    line,
  }))

const linesFor = (sessionId: string, after: number, lines: readonly SessionLine[]): readonly string[] =>
  lines.flatMap(({ of, place, line }) => (of === sessionId && place > after ? [line] : []))

/** Ids that no session has used. */
function nextOf({ next }: ProcessFacts, sessions: readonly SharedSession[]): NextIds {
  const known = [next, ...sessions.map(({ arm }) => asRecord(arm['next']))]
  const highest = (which: keyof NextIds): number => Math.max(...known.map((each) => asNumber(each[which]) ?? 0))
  return { own: highest('own'), sdk: highest('sdk') }
}
