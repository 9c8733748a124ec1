import assert from 'node:assert/strict'
import type { SessionStore, StoredSession } from '@agentproto/contracts/agent'
import { newSession } from '../lifecycle/spawn-request.js'
import { registerCases, type StoreCases, type StoreSubject } from './store-subject.js'

/**
 * Registers the conformance suite of session stores (`SessionStore`) with a test runner: records come back whole and
 * oldest first, the last of many saves wins, what is deleted stays deleted, nothing is changed after a close, everything
 * that was acknowledged is there for the next host, and with `damage`, an unreadable record is reported and does not affect others.
 * @param name of the store, in the tests' titles
 */
export function testSessionStore<Place>(name: string, subject: StoreSubject<SessionStore, Place>): void {
  const cases = { ...SAVING, ...DELETING, ...KEEPING, ...(subject.damage === undefined ? {} : DAMAGE) }
  registerCases(name, subject, { cases, close: (store) => store.close() })
}

const SAVING: StoreCases<SessionStore> = {
  'a new store is empty': async ({ open }) => {
    const store = await open()
    assert.deepEqual(await store.load(), { sessions: [], problems: [] })
  },
  'a record is loaded as it was saved, with members of a newer version': async ({ open }) => {
    const store = await open()
    const saved = { ...stored(1, 'ж😀\u2028\u0000"\\ and\nlines'), fromTheFuture: { kept: true } }
    await store.save(saved)
    assert.deepEqual(await loaded(store), [saved])
  },
  'a record is kept as it was when it was saved': async ({ open }) => {
    const store = await open()
    const warnings = ['first']
    const { session, ...rest } = stored(1)
    await store.save({ ...rest, session: { ...session, warnings } })
    warnings.push('second')
    assert.deepEqual(
      (await loaded(store)).map((each) => each.session.warnings),
      [['first']],
    )
  },
  'sessions are listed by their start, oldest first, whenever they were saved': async ({ open }) => {
    const store = await open()
    for (const number of [3, 1, 4, 2]) await store.save(stored(number))
    await store.save(stored(1, 'again'))
    assert.deepEqual(await loaded(store), [stored(1, 'again'), stored(2), stored(3), stored(4)])
  },
  'of concurrent saves the last one wins, complete': async ({ open }) => {
    const store = await open()
    const versions = Array.from({ length: 40 }, (_, index) => stored(1, `${index} `.repeat((41 - index) * 500)))
    await Promise.all(versions.map((version) => store.save(version)))
    assert.deepEqual(await loaded(store), [versions.at(-1)])
  },
  'sessions that are saved concurrently are all kept': async ({ open }) => {
    const store = await open()
    const all = Array.from({ length: 100 }, (_, index) => stored(index + 1))
    await Promise.all(all.map((each) => store.save(each)))
    assert.deepEqual(await loaded(store), all)
  },
}

const DELETING: StoreCases<SessionStore> = {
  'a deleted session is gone, and no other': async ({ open }) => {
    const store = await open()
    for (const number of [1, 2, 3]) await store.save(stored(number))
    await store.delete(idOf(2))
    assert.deepEqual(await loaded(store), [stored(1), stored(3)])
    await store.close()
    const next = await open()
    assert.deepEqual(await loaded(next), [stored(1), stored(3)])
  },
  'deleting a session that does not exist is not an error': async ({ open }) => {
    const store = await open()
    await store.save(stored(1))
    await store.delete(idOf(2))
    await store.delete(idOf(1))
    await store.delete(idOf(1))
    assert.deepEqual(await loaded(store), [])
  },
  'a save that is under way does not bring back what is deleted': async ({ open }) => {
    const store = await open()
    const saving = Array.from({ length: 10 }, (_, index) => store.save(stored(1, `save ${index}`)))
    await store.delete(idOf(1))
    await Promise.allSettled(saving)
    assert.deepEqual(await loaded(store), [])
  },
  'a session that was deleted may be saved again': async ({ open }) => {
    const store = await open()
    await store.save(stored(1))
    await store.delete(idOf(1))
    await store.save(stored(1, 'again'))
    assert.deepEqual(await loaded(store), [stored(1, 'again')])
  },
}

const KEEPING: StoreCases<SessionStore> = {
  'everything is there when it is opened again': async ({ open }) => {
    const store = await open()
    for (const number of [1, 2]) await store.save(stored(number))
    await store.close()
    await store.close()
    const next = await open()
    assert.deepEqual(await loaded(next), [stored(1), stored(2)])
    await next.save(stored(3))
    await next.close()
    const last = await open()
    assert.deepEqual(await loaded(last), [stored(1), stored(2), stored(3)])
  },
  'what a close finds under way is written': async ({ open }) => {
    const store = await open()
    const saving = [store.save(stored(1)), store.save(stored(2))]
    await store.close()
    await Promise.all(saving)
    const next = await open()
    assert.deepEqual(await loaded(next), [stored(1), stored(2)])
  },
  'after its close it takes nothing more: a save and a delete are refused, and change nothing': async ({ open }) => {
    const store = await open()
    await store.save(stored(1))
    await store.close()
    await store.close()
    await assert.rejects(async () => store.save(stored(2)), { code: 'shutting_down' })
    await assert.rejects(async () => store.save(stored(1, 'late')), { code: 'shutting_down' })
    await assert.rejects(async () => store.delete(idOf(1)), { code: 'shutting_down' })
    await store.close()
    const next = await open()
    assert.deepEqual(await loaded(next), [stored(1)])
    await next.save(stored(2))
    assert.deepEqual(await loaded(next), [stored(1), stored(2)])
  },
  'what was acknowledged is there for the next host, although its predecessor closed nothing': async ({ open }) => {
    const killed = await open()
    for (const number of [1, 2]) await killed.save(stored(number))
    await killed.save(stored(1, 'last'))
    const next = await open()
    assert.deepEqual(await loaded(next), [stored(1, 'last'), stored(2)])
  },
}

const DAMAGE: StoreCases<SessionStore> = {
  'an unreadable record is reported, does not affect others, and can be saved again': async ({ open, damage }) => {
    const store = await open()
    for (const number of [1, 2, 3]) await store.save(stored(number))
    await store.close()
    await damage(idOf(2))
    const next = await open()
    const { sessions, problems } = await next.load()
    assert.ok(problems.length > 0, 'load() must report what could not be read')
    // A store that has it twice may still know it, but then wholly.
    assert.deepEqual(
      sessions.filter(({ session }) => session.id !== idOf(2)),
      [stored(1), stored(3)],
    )
    for (const each of sessions) if (each.session.id === idOf(2)) assert.deepEqual(each, stored(2))
    await next.save(stored(2, 'again'))
    await next.close()
    const last = await open()
    assert.deepEqual(await last.load(), { sessions: [stored(1), stored(2, 'again'), stored(3)], problems: [] })
  },
}

/** What a store has, and that nothing was wrong with it. */
async function loaded(store: SessionStore): Promise<readonly StoredSession[]> {
  const { sessions, problems } = await store.load()
  assert.deepEqual(problems, [])
  return sessions
}

const idOf = (number: number): string => `s_${number.toString().padStart(8, '0')}`

/** A session by the time of its start. */
function stored(number: number, title = `session ${number}`): StoredSession {
  const startedAt = new Date(Date.UTC(2026, 10, 21, 12) + number).toISOString()
  const creation = { id: idOf(number), now: startedAt, hostId: 'suite' }
  return {
    version: 1,
    session: {
      ...newSession({ adapter: 'fake', title }, { type: 'owner', name: 'suite' }, creation),
      adapterSlug: 'fake',
      workspaceSlug: 'default',
      cwd: '/work',
      status: 'exited',
      turnCount: 1,
      turn: { number: 1, state: 'idle' },
      warnings: [],
      lastSeq: number,
    },
    turns: [{ number: 1, state: 'ended', startedAt, firstSeq: 1, lastSeq: number, reason: 'end_turn' }],
    requests: [],
    spawn: {},
  }
}
