import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { systemClock } from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import { FileSessionStore, MemorySessionStore } from '@agentproto/session-registry'
import { testSessionStore } from '@agentproto/session-registry/testing'
import { join } from 'node:path'
import { expect, test } from 'vitest'
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
