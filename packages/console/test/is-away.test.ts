import { expect, test } from 'vitest'
import { testSession } from '../../session-registry/test/fixtures/test-session.ts'
import { isAway, isPromptable, lastState } from '../web/hosts/is-away.js'

const away = { state: 'unreachable', attachable: false, wakeable: false } as const

test('17.8 a session whose host is away is known by what it did last: whether it waited, slept or had ended', () => {
  const sessions = [
    testSession('waits', { ...away, status: 'running', pendingRequests: 1 }),
    testSession('sleeps', { ...away, status: 'killed', stopReason: 'idle', resumable: true }),
    testSession('ended', { ...away, status: 'killed', stopReason: 'user_canceled', resumable: true }),
  ]
  expect(sessions.map((session) => [isAway(session), lastState(session), isPromptable(session)])).toEqual([
    [true, 'waiting', true],
    [true, 'asleep', true],
    [true, 'ended', false],
  ])
})

test('17.8 of a session whose host is heard from its own words count', () => {
  const session = testSession('here', { state: 'asleep', status: 'killed', wakeable: false })
  expect([isAway(session), lastState(session), isPromptable(session)]).toEqual([false, 'asleep', false])
})
