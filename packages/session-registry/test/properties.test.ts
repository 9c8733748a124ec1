import { isAgentprotoError, isLive } from '@agentproto/contracts'
import type { KillReason } from '@agentproto/contracts/wire'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Host, type Model } from './fixtures/lifecycle-model.js'
import { settled } from './fixtures/manual-clock.js'
import { owner } from './fixtures/test-registry.js'

/**
 * Whatever is done to sessions, in whatever order and how much of it at once: the numbers of their logs have no hole, each
 * turn has one end, the first cause of an end wins, nothing comes after the end, and nothing lives in a session that has ended.
 *
 * A failure names its seed and path: run it again with `SEED=… npx vitest run --project unit properties`.
 */
const SEED = Number(process.env['SEED'] ?? 20_261_122)
const RUNS = Number(process.env['RUNS'] ?? 300)

type Act = (host: Host, id: string) => Promise<unknown>

/** Something done to one session, or several things at once. A refusal is an answer, too; what is no refusal is a fault. */
class Step implements fc.AsyncCommand<Model, Host> {
  readonly #name: string
  readonly #which: number
  readonly #acts: readonly Act[]

  constructor(name: string, which: number, acts: readonly Act[]) {
    this.#name = name
    this.#which = which
    this.#acts = acts
  }

  check(model: Readonly<Model>): boolean {
    return model.sessions > 0
  }

  async run(model: Model, host: Host): Promise<void> {
    const id = host.ids[this.#which % model.sessions] ?? ''
    // Not awaited: an interrupt of a stubborn agent ends only when time goes on.
    const acts = this.#acts.map((act) => act(host, id).catch((error: unknown) => onlyRefusals(error, host)))
    void Promise.all(acts).catch((fault: unknown) => host.faults.push(fault))
    await settled()
    await host.check()
  }

  toString(): string {
    return `${this.#name}(${this.#which})`
  }
}

class Spawn implements fc.AsyncCommand<Model, Host> {
  readonly #prompt: string | undefined

  constructor(prompt: string | undefined) {
    this.#prompt = prompt
  }

  check({ sessions }: Readonly<Model>): boolean {
    return sessions < 3
  }

  async run(model: Model, host: Host): Promise<void> {
    const prompt = this.#prompt === undefined ? {} : { prompt: this.#prompt }
    try {
      host.ids.push((await host.registry.spawn({ adapter: 'fake', ...prompt }, owner)).id)
      model.sessions += 1
    } catch (error) {
      onlyRefusals(error, host)
    }
    await host.check()
  }

  toString(): string {
    return `spawn(${this.#prompt})`
  }
}

class Whole implements fc.AsyncCommand<Model, Host> {
  readonly #name: string
  readonly #run: (host: Host) => Promise<unknown>

  constructor(name: string, run: (host: Host) => Promise<unknown>) {
    this.#name = name
    this.#run = run
  }

  check(): boolean {
    return true
  }

  async run(_: Model, host: Host): Promise<void> {
    await this.#run(host)
    await host.check()
  }

  toString(): string {
    return this.#name
  }
}

function onlyRefusals(error: unknown, { isFull }: Host): void {
  const isRefusal = isAgentprotoError(error) && error.code !== 'internal'
  if (!isRefusal || (error.code === 'storage_failed' && !isFull)) throw error
}

const kill =
  (reason: KillReason): Act =>
  async (host, id) => {
    if (isLive(await host.registry.get(id))) host.causes.get(id)?.push(reason)
    await host.registry.kill(id, owner, reason)
  }
const prompt =
  (text: string, whenBusy: 'reject' | 'queue' | 'interrupt'): Act =>
  (host, id) =>
    host.registry.prompt(id, { prompt: text, whenBusy }, owner)
const interrupt: Act = (host, id) => host.registry.interrupt(id, owner)
const resume: Act = (host, id) => host.registry.resume(id, {}, owner)
const answer: Act = async (host, id) => {
  const open = (await host.registry.requests(id)).find(({ state }) => state === 'pending')
  if (open !== undefined) await host.registry.answer({ id, requestId: open.requestId }, { outcome: 'accept' }, owner)
}
const crash: Act = async (host, id) => {
  const session = await host.registry.get(id)
  // What its end is called is not the model's to say; only that no later kill renames it.
  if (isLive(session)) host.causes.get(id)?.push('agent_crashed')
  host.agent(id)?.die({ duringTurn: session.turn.state !== 'idle' })
}

const text = fc.constantFrom('echo', 'hang', 'ask', 'stubborn', 'silent', 'throw', 'chatty')
const act: fc.Arbitrary<readonly [string, Act]> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(text, fc.constantFrom('reject' as const, 'queue' as const, 'interrupt' as const))
      .map(([what, whenBusy]) => [`prompt ${what} ${whenBusy}`, prompt(what, whenBusy)] as const),
  },
  fc.constant(['interrupt', interrupt] as const),
  fc.constant(['answer', answer] as const),
  fc.constant(['crash', crash] as const),
  fc
    .constantFrom<KillReason>('user_canceled', 'loop_detected', 'budget_exceeded')
    .map((reason) => [`kill ${reason}`, kill(reason)] as const),
  fc.constant(['resume', resume] as const),
)
const step = fc.tuple(fc.nat(2), fc.array(act, { minLength: 1, maxLength: 3 })).map(
  ([which, acts]) =>
    new Step(
      acts.map(([name]) => name).join(' & '),
      which,
      acts.map(([, each]) => each),
    ),
)
const commands = fc.commands(
  [
    fc.option(text, { nil: undefined }).map((first) => new Spawn(first)),
    step,
    step,
    step,
    fc
      .constantFrom(1_000, 31_000, 11 * 60_000)
      .map((ms) => new Whole(`advance ${ms}`, (host) => host.clock.advance(ms))),
    fc.constant(new Whole('kill -9 and start again', (host) => host.restart())),
    fc.constant(new Whole('the disk is full', (host) => Promise.resolve((host.isFull = true)))),
    fc.constant(new Whole('there is room again', (host) => host.takeAgain())),
  ],
  { maxCommands: 30 },
)

test('whatever is done to sessions in whatever order, their logs and statuses are correct', async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (each) => {
      const host = new Host()
      await host.restart()
      await fc.asyncModelRun(() => ({ model: { sessions: 0 }, real: host }), each)
      await host.end()
      expect(host.faults).toEqual([])
    }),
    { seed: SEED, numRuns: RUNS, endOnFailure: false },
  )
}, 120_000)
