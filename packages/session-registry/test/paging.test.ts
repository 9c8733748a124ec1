import type { Session } from '@agentproto/contracts'
import type { SessionPage } from '@agentproto/contracts/wire'
import type { SessionRegistry } from '@agentproto/session-registry'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { pageOf } from '../src/records/session-page.js'
import { scripted } from './fixtures/scripted-agent.js'
import { memoryRegistry, owner } from './fixtures/test-registry.js'

const idsOf = ({ sessions }: SessionPage): string[] => sessions.map(({ id }) => id)

/** All pages, with something done between one and the next. */
async function pages(registry: SessionRegistry, limit: number, between: (page: SessionPage) => Promise<unknown>) {
  const seen: string[] = []
  let after: string | undefined
  do {
    const page = await registry.list({ limit, ...(after === undefined ? {} : { after }) })
    seen.push(...idsOf(page))
    after = page.nextCursor
    await between(page)
  } while (after !== undefined)
  return seen
}

test('sessions that started in the same millisecond are each listed once, also when the last of a page is forgotten', async () => {
  const { registry } = await memoryRegistry(scripted())
  const ids: string[] = []
  for (let i = 0; i < 7; i += 1) ids.unshift((await registry.spawn({ adapter: 'fake' }, owner)).id)
  expect(new Set((await registry.list()).sessions.map(({ startedAt }) => startedAt)).size).toBe(1)
  const seen = await pages(registry, 2, async ({ sessions }) => registry.forget(sessions.at(-1)?.id ?? '', owner))
  expect(seen).toEqual(ids)
})

test('sessions that start and end while one turns the pages change nothing about the others', async () => {
  const { registry, clock } = await memoryRegistry(scripted())
  const ids: string[] = []
  for (let i = 0; i < 6; i += 1) {
    await clock.advance(i % 2)
    ids.unshift((await registry.spawn({ adapter: 'fake' }, owner)).id)
  }
  const seen = await pages(registry, 2, async ({ sessions }) => {
    await registry.spawn({ adapter: 'fake' }, owner)
    await registry.kill(sessions[0]?.id ?? '', owner)
  })
  expect(seen).toEqual(ids)
})

interface Step {
  readonly forget: readonly number[]
  readonly born: number
}
const step: fc.Arbitrary<Step> = fc.record({
  forget: fc.array(fc.nat(30), { maxLength: 4 }),
  born: fc.nat(3),
})

test('sessions that are forgotten or created between two pages do not change the order of the others', () => {
  const starts = fc.array(fc.nat(3), { minLength: 1, maxLength: 20 })
  const property = fc.property(
    starts,
    fc.integer({ min: 1, max: 5 }),
    fc.array(step, { maxLength: 30 }),
    (gaps, limit, steps) => {
      let ms = 0
      let all = gaps.map((gap, at) => sessionAt(`s${at}`, (ms += gap)))
      const staying = new Set(all.map(({ id }) => id))
      const seen: string[] = []
      let after: string | undefined
      for (let turned = 0; turned < 100; turned += 1) {
        const page = pageOf(all.map(shelved), { limit, ...(after === undefined ? {} : { after }) }, EVERY)
        seen.push(...idsOf(page))
        after = page.nextCursor
        if (after === undefined) break
        const { forget, born } = steps[turned] ?? { forget: [], born: 0 }
        const gone = new Set(forget.map((at) => all[at % all.length]?.id ?? ''))
        all = all.filter(({ id }) => !gone.has(id))
        for (const id of gone) staying.delete(id)
        for (let n = 0; n < born; n += 1) all.push(sessionAt(`n${turned}.${n}`, ms))
      }
      expect([...staying].filter((id) => !seen.includes(id))).toEqual([])
      // Where nothing is forgotten, nothing comes twice.
      const repeated = seen.length - new Set(seen).size
      const isForgotten = steps.some(({ forget }) => forget.length > 0)
      expect(isForgotten ? 0 : repeated).toBe(0)
    },
  )
  fc.assert(property, { seed: 46, numRuns: 500 })
})

const EVERY: Parameters<typeof pageOf>[2] = { isInScope: () => true, asOfNow: (session) => session }
const sessionAt = (id: string, ms: number): Session =>
  ({ id, startedAt: new Date(1_795_000_000_000 + ms).toISOString(), status: 'killed', health: 'dead' }) as Session
const shelved = (session: Session): Parameters<typeof pageOf>[0][number] => ({ evicted: { session } as never })

test('12.B3 a list without a limit has all sessions, up to 10,000, and then a cursor', () => {
  const page = (count: number) =>
    pageOf(
      Array.from({ length: count }, (_, at) => shelved(sessionAt(`s${at}`, at))),
      {},
      EVERY,
    )
  const [all, part] = [page(10_000), page(10_001)]
  expect([all.sessions.length, all.nextCursor]).toEqual([10_000, undefined])
  expect([part.sessions.length, typeof part.nextCursor]).toEqual([10_000, 'string'])
})
