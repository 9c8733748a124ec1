import type { SessionEvent } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { SessionRebuild } from '../src/archive/session-rebuild.js'
import { storedSession } from './fixtures/stored-session.js'

const { session } = storedSession
const envelope = { ts: session.startedAt, sessionId: session.id }
const prompt = (seq: number, turn: number): SessionEvent => ({
  seq,
  turn,
  ...envelope,
  type: 'user-prompt',
  content: [],
})
const text = (seq: number, turn: number): SessionEvent => ({ seq, turn, ...envelope, type: 'text-delta', text: 'x' })

function rebuilt(...events: readonly SessionEvent[]): SessionRebuild {
  const rebuild = new SessionRebuild(session)
  rebuild.apply(prompt(1, 1))
  rebuild.skip({ after: 1, first: 10 })
  for (const event of events) {
    rebuild.find(event)
    rebuild.apply(event)
  }
  return rebuild
}

test('a turn whose events are all lost in a gap counts, and the next prompt begins the turn after it', () => {
  const { turns, state } = rebuilt(prompt(10, 3))
  expect(turns.all.map(({ number, state: each }) => [number, each])).toEqual([
    [1, 'ended'],
    [3, 'running'],
  ])
  expect(state.turn).toMatchObject({ phase: 'open', number: 3 })
})

test('output after a gap shows that a turn has begun in it', () => {
  const { turns, state } = rebuilt(text(10, 2))
  expect(turns.all).toMatchObject([
    { number: 1, reason: 'error' },
    { number: 2, firstSeq: 2 },
  ])
  expect(state.turn).toMatchObject({ phase: 'open', number: 2 })
})

test('output of the same turn after a gap goes on with it', () => {
  const { turns, state } = rebuilt(text(10, 1))
  expect(turns.all).toMatchObject([{ number: 1, state: 'running' }])
  expect(state.turn).toMatchObject({ phase: 'open', number: 1 })
})
