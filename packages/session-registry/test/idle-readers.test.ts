import type { EventStore } from '@agentproto/contracts/agent'
import { MemoryEventStore, MemorySessionStore } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { settled } from './fixtures/manual-clock.js'
import { scripted } from './fixtures/scripted-agent.js'
import { memoryRegistry, owner } from './fixtures/test-registry.js'

const READERS = 500
const HOUR_MS = 60 * 60_000

/** A store that counts every call of every log. */
function counted(): { readonly logs: EventStore; readonly count: () => number } {
  const memory = new MemoryEventStore()
  let calls = 0
  const logs: EventStore = {
    async open(id) {
      const log = await memory.open(id)
      return new Proxy(log, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name, target)
          if (typeof member !== 'function') return member
          return (...args: unknown[]): unknown => {
            calls += 1
            return Reflect.apply(member, target, args)
          }
        },
      })
    },
    delete: (id) => memory.delete(id),
  }
  return { logs, count: () => calls }
}

test('five hundred waiting readers set no timer and do not read the log', async () => {
  const { logs, count } = counted()
  const { registry, clock } = await memoryRegistry({ ...scripted(), logs, store: new MemorySessionStore() })
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'one' }, owner)
  await registry.waitTurn(id, 1)
  await settled()
  const timers = clock.pending
  const { lastSeq } = await registry.get(id)
  const waits = Array.from({ length: READERS }, async (_, n) => {
    if (n % 3 === 0) return (await registry.followOutput(id, `${lastSeq}`)).next()
    if (n % 3 === 1) return (await registry.follow(id, lastSeq)).next()
    return registry.watch().next()
  })
  await settled()
  const reads = count()
  expect(clock.pending).toBe(timers)
  await clock.advance(HOUR_MS)
  expect(count()).toBe(reads)
  // They were not asleep: one event wakes each.
  await registry.prompt(id, { prompt: 'two' }, owner)
  const woken = await Promise.all(waits)
  expect(woken.filter((batch: unknown) => batch === undefined)).toEqual([])
})
