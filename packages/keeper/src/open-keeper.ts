import { systemClock } from '@agentproto/contracts'
import type { Clock } from '@agentproto/contracts'
import type { KeptAgent, KeptLoss, Launch } from '@agentproto/contracts/agent'
import type { HomeKeeper, KeeperInfo, KeeperOptions, ListedAgent } from './home-keeper.js'
import { connectKeeper } from './keeper-client.js'
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

async function reach(options: KeeperOptions): Promise<HomeKeeper> {
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
async function connectPatiently(options: KeeperOptions): Promise<HomeKeeper | undefined> {
  const { clock = systemClock } = options
  for (let waited = 0; ; waited += LOOK_MS) {
    try {
      return await connectKeeper(options)
    } catch (error) {
      if (!speaksOtherWire(error) || waited >= GIVE_WAY_MS) throw error
      await passed(clock, LOOK_MS)
    }
  }
}

const passed = (clock: Clock, ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve))

/** A keeper of another build stays as long as it holds agents. */
async function gaveWay(keeper: HomeKeeper, build: string): Promise<boolean> {
  if (keeper.info.build === build || !(await keeper.stop())) return false
  await keeper.lost
  return true
}

/** The keeper of a home for as long as its gateway runs: one that ended is followed by another, which holds nothing. */
class LastingKeeper implements HomeKeeper {
  readonly #options: KeeperOptions
  #current: HomeKeeper
  #loss: KeptLoss | undefined
  #next: Promise<HomeKeeper> | undefined
  #isClosed = false

  constructor(options: KeeperOptions, keeper: HomeKeeper) {
    this.#options = options
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

  signal(key: string, signal: NodeJS.Signals): Promise<boolean> {
    return this.#current.signal(key, signal)
  }

  stop(): Promise<boolean> {
    return this.#current.stop()
  }

  close(): void {
    this.#isClosed = true
    this.#current.close()
  }

  async #replaced(): Promise<void> {
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

  #follow(keeper: HomeKeeper): HomeKeeper {
    this.#loss = undefined
    void keeper.lost.then((loss) => {
      if (this.#current === keeper) this.#loss ??= loss
    })
    return keeper
  }
}
