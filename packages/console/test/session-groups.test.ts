import { expect, test } from 'vitest'
import type { Session } from '@agentproto/client'
import { testSession } from '../../session-registry/test/fixtures/test-session.ts'
import { groupsOf } from '../web/sessions/session-groups.js'

const session = (id: string, members: Partial<Session> = {}): Session =>
  testSession(id, { workspaceSlug: 'one', lastActiveAt: '2026-01-01T00:00:00.000Z', ...members })

const outline = (groups: ReturnType<typeof groupsOf>) =>
  groups.map(({ name, rows }) => [name, ...rows.map(({ session: { id }, depth }) => `${'>'.repeat(depth)}${id}`)])

test('15.3 sessions are in groups by workspace or state, those that wait first', () => {
  const all = [
    session('idle'),
    session('other', { workspaceSlug: 'two', state: 'busy' }),
    session('waits', { state: 'waiting' }),
    session('newer', { lastActiveAt: '2026-02-01T00:00:00.000Z' }),
  ]
  expect(outline(groupsOf(all, 'workspace'))).toEqual([
    ['one', 'waits', 'newer', 'idle'],
    ['two', 'other'],
  ])
  expect(outline(groupsOf(all, 'state'))).toEqual([
    ['waiting', 'waits'],
    ['busy', 'other'],
    ['idle', 'newer', 'idle'],
  ])
})

test('15.3 a session that an agent started is below the session of that agent', () => {
  const all = [
    session('grandchild', { parentSessionId: 'child', state: 'waiting' }),
    session('child', { parentSessionId: 'parent' }),
    session('parent'),
    session('orphan', { parentSessionId: 'gone' }),
  ]
  expect(outline(groupsOf(all, 'workspace'))).toEqual([['one', 'parent', '>child', '>>grandchild', 'orphan']])
})

test('15.3 no session is hidden by a circle of parents', () => {
  const all = [
    session('a', { parentSessionId: 'b' }),
    session('b', { parentSessionId: 'a' }),
    session('c', { parentSessionId: 'c' }),
  ]
  expect(outline(groupsOf(all, 'workspace')).flat().toSorted()).toEqual(['a', 'b', 'c', 'one'])
})

test('17.8 sessions are in groups by host, and one whose host is away comes before those that are asleep', () => {
  const sessions = [
    session('a', { hostId: 'laptop', state: 'asleep' }),
    session('b', { hostId: 'tower' }),
    session('c', { hostId: 'laptop', state: 'unreachable' }),
  ]
  expect(outline(groupsOf(sessions, 'host'))).toEqual([
    ['tower', 'b'],
    ['laptop', 'c', 'a'],
  ])
})
