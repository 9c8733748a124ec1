import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { systemClock } from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import { FileSessionStore, MemorySessionStore } from '@agentproto/session-registry'
import { testSessionStore } from '@agentproto/session-registry/testing'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseStoredSession } from '../src/records/stored-session.js'
import { storedSession } from './fixtures/stored-session.js'
import { temporaryHome } from './fixtures/test-registry.js'

testSessionStore('memory', { test, place: () => new MemorySessionStore(), open: (store) => store })

testSessionStore('file', {
  test,
  place: async () => homeLayout(await temporaryHome()),
  open: ({ sessions, sessionsIndex }) =>
    new FileSessionStore({ directory: sessions, indexPath: sessionsIndex, clock: systemClock }),
  damage: ({ sessions }, id) => {
    const path = join(sessions, id, 'meta.json')
    truncateSync(path, Math.floor(statSync(path).size / 2))
  },
})

test('12.B9 the index of a home whose last session was deleted is read without a problem, also one with an empty line', async () => {
  const home = homeLayout(await temporaryHome())
  const open = (): FileSessionStore =>
    new FileSessionStore({ directory: home.sessions, indexPath: home.sessionsIndex, clock: systemClock })
  const store = open()
  expect(await store.load()).toEqual({ sessions: [], problems: [] })
  await store.close()
  const again = open()
  expect(await again.load()).toEqual({ sessions: [], problems: [] })
  await again.close()
  writeFileSync(home.sessionsIndex, readFileSync(home.sessionsIndex, 'utf8').replace(']}', '\n]}'))
  expect(await open().load()).toEqual({ sessions: [], problems: [] })
})

test('16.2 what killed saves left beside the records of live sessions and the index is removed, and nothing else', async () => {
  const home = homeLayout(await temporaryHome())
  const open = (): FileSessionStore =>
    new FileSessionStore({ directory: home.sessions, indexPath: home.sessionsIndex, clock: systemClock })
  const { session } = storedSession
  const store = open()
  await store.load()
  await store.save({ ...storedSession, session: { ...session, status: 'running' } })
  await store.close()
  const folder = join(home.sessions, session.id)
  const left = [join(folder, 'meta.json.1221224552'), `${home.sessionsIndex}.11328-1`]
  const kept = [join(folder, 'meta.json.unreadable-12'), join(folder, 'meta.json.12x')]
  for (const path of [...left, ...kept]) writeFileSync(path, '{')
  const again = open()
  expect((await again.load()).sessions).toHaveLength(1)
  expect(left.filter((path) => existsSync(path))).toEqual([])
  expect(kept.filter((path) => existsSync(path))).toEqual(kept)
  await again.close()
})

test.each([
  ['no queue', { context: {} }],
  ['a queue that is none', { queue: 'x', context: {} }],
  ['a prompt without its flags', { queue: [{ content: [], queuedAt: '2026-11-21T12:00:00.000Z' }], context: {} }],
  ['a transcript that is no text', { queue: [], context: { transcript: 1 } }],
])('16.3 a record with %s is not that of a kept session, so its agent is not taken over', (_, kept) => {
  const record = { ...storedSession, kept }
  expect(parseStoredSession(record)).toMatchObject({ session: { id: storedSession.session.id } })
  expect(parseStoredSession(record)?.kept).toBeUndefined()
  const good = { queue: [], context: {} }
  expect(parseStoredSession({ ...record, kept: good })?.kept).toEqual(good)
})
