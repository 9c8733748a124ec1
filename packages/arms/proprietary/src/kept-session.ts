import { IdlePoint, type IdleSubject, notAdoptable, type Turn } from '@agentproto/arm-kit'
import { AgentprotoError, type Clock, defined, type Json, settlesWithin } from '@agentproto/contracts'
import type {
  AgentCliKeep,
  AgentCliReattachOptions,
  AgentKeeper,
  AgentSink,
  ArmConnectOptions,
  ArmLimits,
  KeptAgent,
  KeptLoss,
  Launch,
  StreamOffsets,
} from '@agentproto/contracts/agent'
import { keptFactsText, readKeptFacts, turnKeyOf } from '@agentproto/contracts/agent'
import { checkLaunch, endProcesses, identify, SESSION_MARKER } from '@agentproto/subprocess'
import { readSessionFacts, type SessionFacts, type TurnFacts } from './session-facts.js'
import { endTurnProcess, inputOf, runFactsText, TurnProcess } from './turn-process.js'

/** Nothing is written to or by the process that holds the place of a session. */
const NOTHING: StreamOffsets = { stdin: 0, stdout: 0, stderr: 0 }
/** How long that process may take to end, in milliseconds. */
const PLACE_MS = 1_000

/** Where a session is kept. */
export interface KeptPlace {
  readonly keeper: AgentKeeper
  readonly key: string
  /** Of the turns' processes. */
  readonly marker: string
  readonly host: Json
  readonly limits: ArmLimits
  readonly clock: Clock
}

/** What the session does now. */
export interface KeptSubject extends IdleSubject {
  readonly turn: Turn | undefined
  readonly turnId: string
}

/** The running turn that an earlier host has left. */
export interface LeftTurn extends NonNullable<AgentCliReattachOptions['turn']> {
  readonly isCancelled: boolean
  /** Its process has ended. */
  readonly isEnded: boolean
}

/**
 * A session whose turns are processes of their own. Between turns nothing runs, so that a small process holds the session's
 * place with the keeper, and its facts. Before the process of a turn is started, and after the turn, is an idle point.
 */
export class KeptSession implements AgentCliKeep {
  /** What an earlier host has left; absent in a new session. */
  readonly left: { readonly mark: number; readonly facts: SessionFacts; readonly turn?: LeftTurn } | undefined
  /** Lets the process of the running turn be read. */
  begin: () => void = () => {}
  readonly #at: KeptPlace
  readonly #place: KeptAgent
  readonly #begun: Promise<void>
  #point: IdlePoint | undefined
  #subject: KeptSubject | undefined
  #runs = 0
  #turn: TurnFacts | undefined
  /** The facts that are stored. */
  #stored = ''
  /** The process of the last turn, and the end of one that no turn goes on with. */
  #process: KeptAgent | undefined
  #clearing: Promise<void> = Promise.resolve()

  private constructor(at: KeptPlace, place: KeptAgent, left?: Left) {
    this.#at = at
    this.#place = place
    this.#begun = new Promise((resolve) => (this.begin = resolve))
    this.#stored = place.facts
    if (!left) return
    const { facts, process, input } = left
    this.#runs = facts.runs
    this.#turn = facts.turn
    this.#process = process
    const turn = process && facts.turn && input !== undefined ? this.#leftTurn(process, facts.turn, input) : undefined
    this.left = { mark: left.mark, facts, ...defined({ turn }) }
    if (turn === undefined) void this.#clear().catch(() => {})
  }

  /** Holds the place of a new session. @throws `keeper_unavailable`, `spawn_failed` */
  static async open({ launch, limits, clock }: ArmConnectOptions, keep: Keep): Promise<KeptSession> {
    const { keeper, key, host = {} } = keep
    checkLaunch(launch)
    const at: KeptPlace = { keeper, key, host, limits, clock, marker: launch.marker }
    await endPlace(await keeper.adopt(key), clock)
    const former = await keeper.adopt(turnKeyOf(key))
    if (former) await endTurnProcess(former, at)
    const session = new KeptSession(at, await keeper.spawn(key, placeOf(launch), ''))
    session.begin()
    return session
  }

  /** Goes on with a session. @throws `not_adoptable`, `keeper_unavailable` */
  static async adopt(place: KeptAgent, at: Omit<KeptPlace, 'host'>): Promise<KeptSession> {
    const stored = readKeptFacts(place.facts)
    if (!stored) throw notAdoptable('Its start was not completed, or its facts cannot be read')
    const facts = readSessionFacts(stored.arm)
    const process = await at.keeper.adopt(turnKeyOf(at.key))
    const input = process && facts.turn ? await inputOf(process, facts.runs) : undefined
    return new KeptSession({ ...at, host: stored.host }, place, { mark: stored.mark, facts, process, input })
  }

  /** Settles when this host has lost it, or when its place has ended; never rejects. */
  get over(): Promise<KeptLoss> {
    const ended = { cause: 'unreachable', reason: 'what held the place of its session was ended' } as const
    return Promise.race([this.#place.lost, this.#place.exit.then(() => ended)])
  }

  /** A sink whose session has idle points. */
  sink(sink: AgentSink): AgentSink {
    const { host, clock } = this.#at
    const { exit, lost } = this.#place
    const acknowledge = async (_: StreamOffsets, facts: string, isBusy: boolean): Promise<void> => {
      const over = this.#process
      await this.#store(facts, isBusy)
      // The process of a turn that is over is not needed any more; meanwhile the next one may have been started.
      if (!isBusy && over === this.#process) await this.#clear().catch(() => {})
    }
    const never = { caughtUp: this.#begun, begin: () => {}, onFull: () => {} }
    const process = { first: NOTHING, offsets: NOTHING, acknowledge, exit, lost, ...never }
    this.#point = new IdlePoint(sink, { process, host, clock })
    return this.#point
  }

  /** The session is open. @param facts what the adapter and the connection need again */
  watch(subject: Omit<KeptSubject, 'facts'>, facts: () => Omit<SessionFacts, 'runs' | 'turn'>): void {
    const turn = (): TurnFacts | undefined => (this.#subject?.turn ? this.#turn : undefined)
    const all = (): Json => ({ ...facts(), runs: this.#runs, ...defined({ turn: turn() }) })
    this.#subject = {
      facts: all,
      get isIdle() {
        return subject.isIdle
      },
      get turn() {
        return subject.turn
      },
      get turnId() {
        return subject.turnId
      },
    }
    this.#point?.watch(this.#subject)
  }

  /** A turn begins, of which no process was started. */
  beginTurn(): void {
    this.#turn = undefined
  }

  /** The running turn is about to be cancelled. */
  async cancelTurn(): Promise<void> {
    const facts = readKeptFacts(this.#stored)
    if (!this.#turn || !facts) return
    this.#turn = { ...this.#turn, isCancelled: true }
    await this.#store(keptFactsText({ ...facts, arm: { ...facts.arm, turn: this.#turn } }), true)
  }

  async spawn(launch: Launch, input: string): Promise<KeptAgent> {
    const { keeper, key, clock } = this.#at
    const { turn, turnId } = this.#subject ?? {}
    if (!turn || turnId === undefined || !this.#point)
      throw new AgentprotoError('not_supported', 'A process is kept for a turn that runs, and for nothing else')
    checkLaunch(launch)
    await this.#clear()
    const run = ++this.#runs
    this.#turn = { id: turnId, isCancelled: turn.cancelling }
    turn.isSent = false
    await this.#point.beforePrompt()
    turn.isSent = true
    const agent = await keeper.spawn(turnKeyOf(key), launch, runFactsText({ run, input: Buffer.byteLength(input) }))
    this.#process = agent
    void agent.write(input)
    agent.endInput()
    return new TurnProcess(agent, { clock, begun: this.#begun, onFull: () => this.#full() })
  }

  /** Ends all that is kept of it. */
  async close(): Promise<void> {
    await this.#clear()
    await endPlace(this.#place, this.#at.clock)
  }

  #leftTurn(process: KeptAgent, { id, isCancelled }: TurnFacts, input: string): LeftTurn {
    // The earlier host may have ended before it closed its stdin.
    process.endInput()
    const isEnded = identify(process.process.pid)?.startTime !== process.process.startTime
    const options = { clock: this.#at.clock, begun: this.#begun, onFull: () => this.#full() }
    return { id, input, isCancelled, isEnded, process: new TurnProcess(process, options) }
  }

  /** Two processes of one session would be one conversation. */
  #clear(): Promise<void> {
    const process = this.#process
    this.#process = undefined
    const clearing = this.#clearing.then(() => (process ? endTurnProcess(process, this.#at) : undefined))
    this.#clearing = clearing.catch(() => {})
    return clearing
  }

  #full(): void {
    void this.#point?.emit([FULL])?.catch(() => {})
    void this.#store('', true)
  }

  async #store(facts: string, isBusy: boolean): Promise<void> {
    this.#stored = facts
    await this.#place.acknowledge(NOTHING, facts, isBusy).catch(() => {})
  }
}

type Keep = NonNullable<ArmConnectOptions['keep']>

interface Left {
  readonly mark: number
  readonly facts: SessionFacts
  readonly process: KeptAgent | undefined
  /** The whole input of the running turn; undefined if it was not sent. */
  readonly input: string | undefined
}

/**
 * Waits for the end of its stdin. It has the environment of the turns' processes, for the next host to read, but not the marker by
 * which these are found and ended.
 */
function placeOf(launch: Launch): Launch {
  const { [SESSION_MARKER]: _, ...env } = launch.env
  return { command: '/bin/sh', args: ['-c', 'read -r end'], cwd: launch.cwd, env, marker: '' }
}

async function endPlace(place: KeptAgent | undefined, clock: Clock): Promise<void> {
  if (!place) return
  place.endInput()
  if (!(await settlesWithin(PLACE_MS, place.exit, clock)))
    await endProcesses([place.process], { termGraceMs: PLACE_MS }, clock)
  await settlesWithin(PLACE_MS, place.release(), clock)
}

const FULL = {
  type: 'notice',
  severity: 'warning',
  text: 'Until the end of this turn, the agent ends with its gateway: it wrote more than is kept of one turn.',
} as const
