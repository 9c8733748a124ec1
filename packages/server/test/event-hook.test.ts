import type { Session } from '@agentproto/contracts'
import { PENDING_CHANGES_MAX, PendingChanges } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { FakeClock } from '../../gateway-http/test/fake-clock.ts'
import { EventHook } from '../src/hooks/event-hook.ts'

test('an event hook whose watch fell behind lists the sessions again, and gets the events of each, once', async () => {
  const gateway = new Sessions()
  gateway.add('before', 2)
  const got: string[] = []
  const events = new EventHook((event) => void got.push(`${event.sessionId} ${event.seq}`), {
    ...options,
    sessions: gateway,
  })
  await events.start()
  gateway.add('missed', 2)
  gateway.flood()
  await expect.poll(() => got).toEqual(['missed 1', 'missed 2'])
  expect(gateway.watches).toHaveLength(2)
  gateway.add('later', 1)
  gateway.latest?.put({ type: 'session', session: gateway.session('later') })
  await expect.poll(() => got).toEqual(['missed 1', 'missed 2', 'later 1'])
  gateway.latest?.close()
  await events.close()
  expect(gateway.watches).toHaveLength(2)
})

const options = {
  clock: new FakeClock(),
  timeoutMs: 1_000,
  onProblem: (problem: string) => expect.unreachable(problem),
}

/** Sessions that have ended, and the watches of them. */
class Sessions {
  readonly watches: PendingChanges[] = []
  readonly #events = new Map<string, number>()

  get latest(): PendingChanges | undefined {
    return this.watches.at(-1)
  }

  add(id: string, events: number): void {
    this.#events.set(id, events)
  }

  session(id: string): Session {
    return { id, status: 'exited', lastSeq: this.#events.get(id) ?? 0 } as Session
  }

  /** More changes than a watch can hold. */
  flood(): void {
    for (let n = 0; n <= PENDING_CHANGES_MAX; n++) this.latest?.put({ type: 'forgotten', id: `gone ${n}` })
  }

  watch(): PendingChanges {
    const watch = new PendingChanges(() => undefined)
    this.watches.push(watch)
    return watch
  }

  async list() {
    return { sessions: [...this.#events.keys()].map((id) => this.session(id)) }
  }

  async get(id: string): Promise<Session> {
    return this.session(id)
  }

  async follow(sessionId: string, after: number) {
    const records = Array.from({ length: this.session(sessionId).lastSeq - after }, (_, n) =>
      recordOf(sessionId, after + n + 1),
    )
    return {
      next: async () => (records.length === 0 ? undefined : { records: records.splice(0) }),
      close: () => undefined,
    }
  }
}

const recordOf = (sessionId: string, seq: number) => ({
  seq,
  type: 'title' as const,
  json: JSON.stringify({ sessionId, seq }),
})
