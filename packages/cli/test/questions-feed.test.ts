import type { Session, SessionRequest } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { QuestionsFeed } from '../src/cockpit/questions-feed.js'
import { permissionFor } from './samples-requests.js'
import { session } from './samples.js'

const asking = (requestId: string, state: SessionRequest['state'] = 'pending'): SessionRequest => ({
  requestId,
  sessionId: 's_c',
  turn: 1,
  request: permissionFor().request,
  state,
  createdAt: '2026-11-21T10:00:00.000Z',
})

/** A feed whose reads are answered by the test, in any order. */
function reading() {
  const reads: ((requests: readonly SessionRequest[]) => void)[] = []
  const shown: string[] = []
  const record =
    (how: string) =>
    (of: Session, pending: readonly SessionRequest[]): void =>
      void shown.push(`${how} ${of.label}: ${pending.map(({ requestId }) => requestId).join(' ')}`)
  const feed = new QuestionsFeed({
    read: () => new Promise((resolve) => reads.push(resolve)),
    open: record('open'),
    update: record('update'),
  })
  return { feed, reads, shown }
}

const asked = session({ label: 'c' })

test('14.2.1 a key opens what waits, and not what was answered', async () => {
  const { feed, reads, shown } = reading()
  const opened = feed.open(asked)
  reads[0]?.([asking('r1', 'resolved'), asking('r2')])
  await opened
  expect(shown).toEqual(['open c: r2'])
})

test('14.2.1 a slow read does not bring back a question that a later read no longer has', async () => {
  const { feed, reads, shown } = reading()
  const both = [feed.update(asked), feed.update(asked)]
  reads[1]?.([asking('r2')])
  await both[1]
  reads[0]?.([asking('r1'), asking('r2')])
  await Promise.all(both)
  expect(shown).toEqual(['update c: r2'])
})

test('14.2.1 a read that fails hides nothing, and the next one counts', async () => {
  const shown: string[] = []
  let fails = true
  const feed = new QuestionsFeed({
    read: () => (fails ? Promise.reject(new Error('no gateway')) : Promise.resolve([asking('r1')])),
    open: () => undefined,
    update: (_, pending) => void shown.push(String(pending.length)),
  })
  await expect(feed.update(asked)).rejects.toThrow('no gateway')
  expect(shown).toEqual([])
  fails = false
  await feed.update(asked)
  expect(shown).toEqual(['1'])
})
