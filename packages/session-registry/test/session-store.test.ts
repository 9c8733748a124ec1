import { statSync, truncateSync } from 'node:fs'
import { systemClock } from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import { FileSessionStore, MemorySessionStore } from '@agentproto/session-registry'
import { testSessionStore } from '@agentproto/session-registry/testing'
import { join } from 'node:path'
import { test } from 'vitest'
import { temporaryHome } from './fixtures/test-registry.js'

testSessionStore('memory', { test, place: () => new MemorySessionStore(), open: (store) => store })

testSessionStore('file', {
  test,
  place: async () => homeLayout(await temporaryHome()),
  open: ({ sessions, sessionsIndex }) =>
    new FileSessionStore({ directory: sessions, indexPath: sessionsIndex, clock: systemClock }),
  damage: ({ sessions }, id) => {
    const path = join(sessions, id, 'meta.json')
    truncateSync(path, statSync(path).size / 2)
  },
})
