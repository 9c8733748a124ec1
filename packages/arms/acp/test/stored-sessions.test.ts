import { expect, test } from 'vitest'
import { AGENT_BOUNDS } from '../src/agent-bounds.ts'
import { listStored } from '../src/stored-sessions.ts'

const MOST = AGENT_BOUNDS.listedSessions

const sessions = (count: number): object[] => Array.from({ length: count }, (_, at) => ({ sessionId: `s${at}` }))

test('of an agent that lists more sessions than anyone reads, so many are kept', async () => {
  let pages = 0
  const large = await listStored(() => Promise.resolve({ sessions: sessions(200_000), nextCursor: 'more' }), undefined)
  expect(large).toHaveLength(MOST)
  const small = await listStored(() => {
    pages++
    return Promise.resolve({ sessions: sessions(MOST / 4), nextCursor: 'more' })
  }, undefined)
  expect([small.length, pages]).toEqual([MOST, 4])
})
