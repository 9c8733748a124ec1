import { readFile } from 'node:fs/promises'
import { type EventStore, homeLayout, type StoredSession } from '@agentproto/contracts/agent'
import { MemoryEventStore, MemorySessionStore } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { ManualClock } from './fixtures/manual-clock.js'
import { scripted } from './fixtures/scripted-agent.js'
import {
  allEvents,
  fileRegistry,
  memoryRegistry,
  owner,
  resumableAdapters,
  temporaryHome,
} from './fixtures/test-registry.js'

const idOf = (n: number): string => `s_${String(n).padStart(14, '0')}`

/** The record of a session that ran and ended long ago. */
async function oldSession(): Promise<StoredSession> {
  const store = new MemorySessionStore()
  const { registry } = await memoryRegistry({ ...scripted(), store })
  await registry.spawn({ adapter: 'fake', prompt: 'hello' }, owner)
  await registry.close()
  const [record] = (await store.load()).sessions
  if (record === undefined) throw new Error('nothing was stored')
  return record
}

async function storeOf(count: number): Promise<MemorySessionStore> {
  const [store, record] = [new MemorySessionStore(), await oldSession()]
  for (let n = 0; n < count; n += 1) {
    const label = n % 100 === 0 ? 'rare' : 'common'
    const startedAt = new Date(Date.parse('2026-01-01T00:00:00.000Z') + n * 1_000).toISOString()
    await store.save({ ...record, session: { ...record.session, id: idOf(n), label, startedAt } })
  }
  return store
}

test('listing, filtering and looking up stored sessions opens no log, and pages have no seam', async () => {
  let opened = 0
  const memory = new MemoryEventStore()
  const logs: EventStore = {
    open: (id) => {
      opened += 1
      return memory.open(id)
    },
    delete: (id) => memory.delete(id),
  }
  const clock = new ManualClock()
  const { registry } = await memoryRegistry({ ...scripted(), store: await storeOf(1_000), logs, clock })
  const seen: string[] = []
  let after: string | undefined
  do {
    const page = await registry.list({ limit: 300, ...(after === undefined ? {} : { after }) })
    seen.push(...page.sessions.map(({ id }) => id))
    after = page.nextCursor
  } while (after !== undefined)
  expect(seen).toEqual(Array.from({ length: 1_000 }, (_, n) => idOf(999 - n)))
  const rare = await registry.list({ label: 'rare', limit: 4 })
  expect(rare.sessions.map(({ id }) => id)).toEqual([900, 800, 700, 600].map(idOf))
  expect(rare.nextCursor).toContain(idOf(600))
  expect((await registry.list({ label: 'rare', limit: 10 })).nextCursor).toBeUndefined()
  expect(await registry.get(idOf(1))).toMatchObject({ status: 'killed', health: 'dead' })
  expect([opened, clock.pending]).toEqual([0, 0])
})

test('a session that was read rests again, and is the same when it is asked for later', async () => {
  const home = await temporaryHome()
  const agents = scripted(undefined, { resume: true })
  const clock = new ManualClock()
  const first = await fileRegistry(home, { ...agents, adapters: resumableAdapters })
  const { id } = await first.spawn({ adapter: 'fake', prompt: 'one' }, owner)
  await first.waitTurn(id, 1)
  await first.close()
  const registry = await fileRegistry(home, { ...agents, adapters: resumableAdapters, clock })
  const before = [await registry.get(id), await registry.turns(id), await allEvents(registry, id)]
  await clock.advance(31_000)
  expect(clock.pending).toBe(0)
  expect([await registry.get(id), await registry.turns(id), await allEvents(registry, id)]).toEqual(before)
  await clock.advance(31_000)
  const { turn } = await registry.prompt(id, { prompt: 'two' }, owner)
  expect(await registry.waitTurn(id, turn)).toMatchObject({ number: 2, text: 'echo: two' })
})

test('the index that a shutdown leaves has each session on a line of its own', async () => {
  const home = await temporaryHome()
  const registry = await fileRegistry(home, scripted())
  const ids = [
    (await registry.spawn({ adapter: 'fake' }, owner)).id,
    (await registry.spawn({ adapter: 'fake' }, owner)).id,
  ]
  await registry.close()
  const lines = (await readFile(homeLayout(home).sessionsIndex, 'utf8')).trimEnd().split('\n')
  expect(lines.slice(1, -1).map((line) => (JSON.parse(line.replace(/,$/, '')) as StoredSession).session.id)).toEqual(
    ids,
  )
  expect(JSON.parse(lines.join(''))).toMatchObject({ version: 1, sessions: [{}, {}] })
})
