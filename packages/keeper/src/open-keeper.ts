import { pause, settlesWithin, systemClock } from '@agentproto/contracts'
import type { Clock } from '@agentproto/contracts'
import type { AgentGuard, KeptAgent, KeptLoss, Launch } from '@agentproto/contracts/agent'
import type { HomeKeeper, KeeperInfo, KeeperOptions, ListedAgent } from './home-keeper.js'
import { type ConnectedKeeper, connectKeeper } from './keeper-client.js'
import { makeFolder } from './keeper-socket.js'
import { programBuild, startKeeper } from './start-keeper.js'
import { speaksOtherWire, unavailable } from './wire-connection.js'

/** A keeper that ends while a gateway connects is replaced; several in a row are not a coincidence. */
const TRIES = 5
/** A keeper that holds nothing ends half a second after its gateway. How long and how often that is waited for, in milliseconds. */
const GIVE_WAY_MS = 2_000
const LOOK_MS = 100

/**
 * Connects to the keeper of a home as its controller, and starts one if none is alive. One of another build that holds nothing
 * is replaced. An earlier controller is disconnected. When the keeper ends, another one is started for
 * the next agent.
 * @throws `keeper_unavailable`
 */
export async function openKeeper(options: KeeperOptions): Promise<HomeKeeper> {
  if (process.platform === 'win32') throw unavailable('there is none for Windows')
  return new LastingKeeper(options, await reach(options))
}

async function reach(options: KeeperOptions): Promise<ConnectedKeeper> {
  makeFolder(options.folder)
  const build = programBuild()
  for (let tries = 0; tries < TRIES; tries += 1) {
    const keeper = await connectPatiently(options)
    if (keeper === undefined) await startKeeper({ ...options, build })
    else if (!(await gaveWay(keeper, build))) return keeper
  }
  throw unavailable('it ends again and again')
}

/** A keeper whose wire is not spoken takes no `stop`, but it ends by itself when it holds nothing. */
async function connectPatiently(options: KeeperOptions): Promise<ConnectedKeeper | undefined> {
  const { clock = systemClock } = options
  for (let waited = 0; ; waited += LOOK_MS) {
    try {
      return await connectKeeper(options)
    } catch (error) {
      if (!speaksOtherWire(error) || waited >= GIVE_WAY_MS) throw error
      await pause(clock, LOOK_MS)
    }
  }
}

/** A keeper of another build stays as long as it holds agents. */
async function gaveWay(keeper: HomeKeeper, build: string): Promise<boolean> {
  if (keeper.info.build === build || !(await keeper.stop())) return false
  await keeper.lost
  return true
}

/**
 * The keeper of a home for as long as its gateway runs: one that ended is followed by another, which holds nothing, and one that
 * another program took is taken back.
 */
class LastingKeeper implements HomeKeeper {
  readonly #options: KeeperOptions
  readonly #clock: Clock
  readonly #backOff: BackOff
  #current: ConnectedKeeper
  #loss: KeptLoss | undefined
  #next: Promise<ConnectedKeeper> | undefined
  #takingBack: Promise<void> | undefined
  #isClosed = false

  constructor(options: KeeperOptions, keeper: ConnectedKeeper) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#backOff = new BackOff(this.#clock)
    this.#current = this.#follow(keeper)
  }

  get info(): KeeperInfo {
    return this.#current.info
  }

  get lost(): Promise<KeptLoss> {
    return this.#current.lost
  }

  async spawn(key: string, launch: Launch, facts: string): Promise<KeptAgent> {
    await this.#replaced()
    return this.#current.spawn(key, launch, facts)
  }

  async adopt(key: string): Promise<KeptAgent | undefined> {
    await this.#replaced()
    return this.#current.adopt(key)
  }

  list(): Promise<readonly ListedAgent[]> {
    return this.#current.list()
  }

  async guard({ ms, ...guard }: AgentGuard): Promise<boolean> {
    const asked = { wall: this.#clock.now(), monotonic: performance.now() }
    await this.#replaced()
    // This process may have been frozen meanwhile: another host may have the sessions then.
    const waited = Math.max(this.#clock.now() - asked.wall, performance.now() - asked.monotonic)
    return this.#current.guard({ ...guard, ms: Math.max(0, ms - waited) })
  }

  signal(key: string, signal: NodeJS.Signals): Promise<boolean> {
    return this.#current.signal(key, signal)
  }

  stop(): Promise<boolean> {
    return this.#current.stop()
  }

  close(): void {
    this.#isClosed = true
    this.#current.close()
    // Those of a keeper that another program has are left as they are.
    this.#current.lose({ cause: 'left', reason: 'it was left' })
  }

  async #replaced(): Promise<void> {
    if (this.#takingBack) await settlesWithin(TAKEN_MS, this.#takingBack, this.#clock)
    // One that was taken over or left is another gateway's.
    if (this.#loss?.cause !== 'unreachable' || this.#isClosed) return
    const next = (this.#next ??= reach(this.#options))
    try {
      const keeper = await next
      if (this.#current === keeper) return
      this.#current = this.#follow(keeper)
      if (this.#isClosed) keeper.close()
    } finally {
      this.#next = undefined
    }
  }

  #follow(keeper: ConnectedKeeper): ConnectedKeeper {
    this.#loss = undefined
    keeper.onLost = () => {}
    // It may be lost already.
    void keeper.lost.then((loss) => this.#hasLost(keeper, loss))
    return keeper
  }

  #hasLost(keeper: ConnectedKeeper, loss: KeptLoss): void {
    if (this.#current === keeper) this.#loss = loss
    if (loss.cause !== 'taken-over' || !this.#mayTakeBack()) return keeper.lose(loss)
    this.#options.onProblem?.('Another program took the keeper. The agents wait until the gateway has it again.')
    const takingBack = this.#takeBack(keeper).finally(() => (this.#takingBack = undefined))
    this.#takingBack = takingBack
  }

  /** The lock of the home says which gateway is right, also after this one was frozen. */
  #mayTakeBack(): boolean {
    return !this.#isClosed && this.#options.hasHome?.() === true
  }

  /** Two programs that take it from one another must not keep the machine busy. */
  async #takeBack(taken: ConnectedKeeper): Promise<void> {
    for (;;) {
      await pause(this.#clock, this.#backOff.next())
      if (!this.#mayTakeBack()) return taken.lose(TAKEN)
      if (await this.#tookBack(taken).catch(() => false)) return
    }
  }

  /** @throws when the keeper does not answer, or was taken again */
  async #tookBack(taken: ConnectedKeeper): Promise<boolean> {
    const keeper = await connectKeeper(this.#options)
    if (keeper === undefined) {
      this.#loss = ENDED
      taken.lose(ENDED)
      return true
    }
    if (this.#isClosed) keeper.close()
    await keeper.takeBack(taken)
    this.#current = this.#follow(keeper)
    this.#options.onProblem?.('The gateway has its keeper again.')
    return true
  }
}

/** How long a start waits for a keeper that is being taken back, in milliseconds. */
const TAKEN_MS = 15_000
const TAKEN: KeptLoss = { cause: 'taken-over', reason: 'another gateway took over' }
const ENDED: KeptLoss = { cause: 'unreachable', reason: 'the keeper has ended' }

/** How long to wait before a keeper is taken back: the longer, the more often it was taken. */
class BackOff {
  readonly #clock: Clock
  #ms = 0
  #last = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** In milliseconds. */
  next(): number {
    const now = this.#clock.now()
    const isCalm = now - this.#last > CALM_MS
    this.#ms = isCalm ? FIRST_MS : Math.min(this.#ms * 2, LONGEST_MS)
    this.#last = now
    return this.#ms
  }
}

const FIRST_MS = 100
const LONGEST_MS = 30_000
/** After such a time in which it was not taken, it begins with the shortest wait again. */
const CALM_MS = 120_000
