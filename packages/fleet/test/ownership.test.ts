import fc from 'fast-check'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { startNats } from './support/nats-servers.ts'
import { FreezableClock, joinHost, type TestHost, testSession } from './support/test-host.ts'

// Whatever happens to hosts, to their clocks and to their connections: no two of them believe at the same time that a
// session is their own. The server, the connections and the freezes are real; only the clocks can be set.

const LEASE_MS = 150
const SESSIONS = ['s0', 's1', 's2']

interface Actor extends TestHost {
  readonly clock: SkewedClock
}

/** A clock whose wall time can be set, as a person or NTP does. */
class SkewedClock extends FreezableClock {
  skewMs = 0

  override now(): number {
    return super.now() + this.skewMs
  }
}

type Step =
  | { readonly type: 'keep' | 'reconnect'; readonly host: number }
  | { readonly type: 'freeze' | 'set'; readonly host: number; readonly ms: number }
  | { readonly type: 'wait'; readonly ms: number }

const host = fc.nat(2)

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constant('freeze' as const), host, ms: fc.integer({ min: 50, max: 1_500 }) }),
  },
  { weight: 6, arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.integer({ min: 10, max: 600 }) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('keep' as const), host }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('set' as const), host, ms: fc.integer({ min: -2_000, max: 2_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('reconnect' as const), host }) },
)

test('17.3 no two hosts believe at the same time that they have a session', needs('nats-server'), async () => {
  const { url } = await startNats()
  let run = 0
  let moves = 0
  const property = fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 24 }), async (steps) => {
    run += 1
    const actors = await Promise.all(['a', 'b', 'c'].map((name) => actor(`${name}-${run}`, url)))
    const beliefs = new Beliefs(
      actors,
      SESSIONS.map((id) => `${id}-${run}`),
    )
    await Promise.all(actors.map(({ sessions }, i) => sessions.claim(beliefs.session(i))))
    const stop = takeWhatIsLost(actors, beliefs)
    for (const each of steps) await perform(each, actors, beliefs)
    for (const { clock } of actors) clock.thaw()
    await beliefs.settle(4 * LEASE_MS)
    stop()
    moves += beliefs.moves
    await Promise.all(actors.map((each) => each.close()))
    expect(beliefs.violations).toEqual([])
  })
  await fc.assert(property, { numRuns: 1_000, endOnFailure: true, interruptAfterTimeLimit: 20_000 })
  // A run in which nothing is ever moved proves nothing.
  expect(moves).toBeGreaterThan(0)
})

async function actor(name: string, url: string): Promise<Actor> {
  const clock = new SkewedClock()
  const joined = await joinHost(name, [url], { clock, monotonic: clock.monotonic, leaseMs: LEASE_MS })
  return { ...joined, clock }
}

/** Every host that is not frozen takes each session that it may, all the time. */
function takeWhatIsLost(actors: readonly Actor[], { ids }: Beliefs): () => void {
  const timer = setInterval(() => {
    for (const { clock, sessions } of actors)
      for (const id of ids) if (!clock.isFrozen && !sessions.isReachable(id)) sessions.takeOver(id).catch(() => {})
  }, LEASE_MS / 3)
  return () => clearInterval(timer)
}

async function perform(each: Step, actors: readonly Actor[], beliefs: Beliefs): Promise<void> {
  if (each.type === 'wait') return beliefs.settle(each.ms)
  const target = actors[each.host]
  if (target === undefined || target.clock.isFrozen) return
  const { clock, sessions, cluster } = target
  switch (each.type) {
    case 'keep':
      for (const [at, id] of beliefs.ids.entries()) if (sessions.mayWrite(id)) sessions.keep(beliefs.session(at))
      return
    case 'freeze':
      clock.freeze()
      return void setTimeout(() => clock.thaw(), each.ms)
    case 'set':
      clock.skewMs += each.ms
      return
    case 'reconnect':
      // A connection that was just lost, or is closed by now, says so.
      return cluster.nats.reconnect().catch(() => undefined)
  }
}

/** Asks all hosts at one moment, over and over, whose a session is. */
class Beliefs {
  readonly violations: string[] = []
  moves = 0
  readonly #actors: readonly Actor[]
  readonly ids: readonly string[]
  readonly #epochs = new Map<string, number>()

  constructor(actors: readonly Actor[], ids: readonly string[]) {
    this.#actors = actors
    this.ids = ids
  }

  session(at: number): ReturnType<typeof testSession> {
    return testSession(this.ids[at] ?? '', { onHostLoss: 'move', lastSeq: Math.floor(Math.random() * 1_000) })
  }

  async settle(ms: number): Promise<void> {
    for (const until = performance.now() + ms; performance.now() < until;) {
      this.#look()
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  #look(): void {
    for (const id of this.ids) {
      const owners = this.#actors.filter(({ sessions }) => sessions.mayWrite(id))
      if (owners.length > 1)
        this.violations.push(`${id} is written by ${owners.map(({ hosts }) => hosts.host).join(' and ')}`)
      for (const { hosts, sessions } of owners) this.#compare(id, sessions.epochOf(id) ?? 0, hosts.host)
    }
  }

  #compare(id: string, epoch: number, owner: string): void {
    const before = this.#epochs.get(id) ?? 0
    if (epoch < before) this.violations.push(`${id} has epoch ${epoch} at ${owner} after ${before}`)
    if (before > 0 && epoch > before) this.moves += 1
    this.#epochs.set(id, Math.max(before, epoch))
  }
}
