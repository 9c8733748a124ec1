import type { Json } from '@agentproto/contracts'
import {
  type AgentSink,
  keptFactsText,
  MAX_FACTS_BYTES,
  readKeptFacts,
  sharedFactsText,
  type SharedSession,
  type StreamLines,
  type StreamPlace,
} from '@agentproto/contracts/agent'
import { IdlePoint, type KeptLink } from './idle-point.js'

/** What several sessions share. */
export interface SharedSubject {
  /** How far the client is. */
  readonly lines: StreamLines
  /** What a later host needs to go on with the process; see {@link SharedFacts.arm}. */
  facts(): Json
}

/** The last idle point of one session. */
interface Point extends StreamPlace {
  /** Empty for a session that cannot be adopted at present. */
  readonly text: string
  readonly isBusy: boolean
}

/** A session as others know it. */
export interface SharedMember extends Pick<SharedSession, 'key' | 'host'> {
  /** Where an earlier host left it. */
  readonly left?: SharedSession
}

interface Member {
  readonly idle: IdlePoint
  point?: Point
  /** Gives up the point, so that the agent goes on. */
  makeRoom: () => void
}

/**
 * The idle points of the sessions of one process. Each session has its own, with its place in the lines, so that none waits for
 * the others. The keeper forgets what is before the oldest of them: the beginning of the longest turn that runs.
 */
export class SharedPoints {
  readonly #link: KeptLink
  readonly #subject: SharedSubject
  readonly #members = new Map<string, Member>()
  #isRenewing = false

  constructor(link: KeptLink, subject: SharedSubject) {
    this.#link = link
    this.#subject = subject
    link.process.onFull(() => this.#makeRoom())
  }

  /** The sink of one session, which knows when that session is idle. */
  join({ key, host, left }: SharedMember, sink: AgentSink): IdlePoint {
    const { process, clock } = this.#link
    let makeRoom = (): void => {}
    const own: KeptLink['process'] = {
      get offsets() {
        return process.offsets
      },
      get first() {
        return process.first
      },
      caughtUp: process.caughtUp,
      exit: process.exit,
      lost: process.lost,
      begin: () => process.begin(),
      onFull: (listener) => (makeRoom = listener),
      acknowledge: async (offsets, text, isBusy) => {
        this.#reached(key, { offsets, lines: this.#subject.lines, text, isBusy })
      },
    }
    const idle = new IdlePoint(sink, { process: own, host, clock })
    this.#members.set(key, { idle, makeRoom, ...(left && { point: pointOf(left) }) })
    return idle
  }

  /** A session was closed. */
  leave(key: string): void {
    if (this.#members.delete(key)) this.#acknowledge()
  }

  /** Settles when all that was emitted is stored. */
  async stored(): Promise<void> {
    await Promise.all([...this.#members.values()].map(({ idle }) => idle.stored()))
  }

  #reached(key: string, point: Point): void {
    const member = this.#members.get(key)
    if (!member) return
    member.point = point
    if (this.#isRenewing) return
    this.#renew(member)
    this.#acknowledge()
  }

  /** Sessions that are idle must not hold up what the keeper forgets. */
  #renew(except?: Member): void {
    this.#isRenewing = true
    for (const member of this.#members.values()) if (member !== except) member.idle.renew()
    this.#isRenewing = false
  }

  /** The keeper is full: the longest turn gives up its point, and the others are still kept. */
  #makeRoom(): void {
    this.#renew()
    const members = [...this.#members.values()].filter(({ point }) => point !== undefined && point.text !== '')
    const begins = members.map(({ point }) => point?.offsets.stdout ?? 0)
    for (const { point, makeRoom } of members) if (point?.offsets.stdout === Math.min(...begins)) makeRoom()
  }

  #acknowledge(): void {
    const members = [...this.#members].flatMap(([key, { point }]) => (point ? [{ key, point }] : []))
    if (members.length === 0) return
    const adoptable = members.filter(({ point }) => point.text !== '')
    const points = (adoptable.length > 0 ? adoptable : members).map(({ point }) => point)
    const sessions = adoptable.flatMap(sessionAt)
    const from = earliest(points.map(({ lines }) => lines))
    const text = sharedFactsText({ host: this.#link.host, arm: this.#subject.facts(), from, sessions })
    const isTooLong = Buffer.byteLength(text) > MAX_FACTS_BYTES
    if (isTooLong) for (const { idle } of this.#members.values()) idle.tooLong()
    const isBusy = members.some(({ point }) => point.isBusy)
    void this.#link.process.acknowledge(earliest(points.map(({ offsets }) => offsets)), isTooLong ? '' : text, isBusy)
  }
}

function sessionAt({ key, point }: { readonly key: string; readonly point: Point }): SharedSession[] {
  const facts = readKeptFacts(point.text)
  return facts ? [{ ...facts, key, at: { offsets: point.offsets, lines: point.lines } }] : []
}

/** Until the session is idle again, a later host goes on from where this one did. It may be in a turn. */
const pointOf = ({ mark, host, arm, at }: SharedSession): Point => ({
  ...at,
  text: keptFactsText({ mark, host, arm }),
  isBusy: true,
})

/** Points are taken one after the other, so that the earliest has the smallest number of each stream. */
const earliest = (points: readonly StreamLines[]): StreamLines => ({
  stdin: Math.min(...points.map(({ stdin }) => stdin)),
  stdout: Math.min(...points.map(({ stdout }) => stdout)),
  stderr: Math.min(...points.map(({ stderr }) => stderr)),
})
