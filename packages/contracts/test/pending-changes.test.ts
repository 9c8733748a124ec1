import type { Session } from '@agentproto/contracts'
import { PENDING_CHANGES_MAX, PendingChanges, type SessionChange } from '@agentproto/contracts/wire'
import { expect, test, vi } from 'vitest'

const changed = (id: string, lastSeq = 1): SessionChange => ({ type: 'session', session: { id, lastSeq } as Session })
const idsUpTo = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `s${n}`)
const idsOf = (changes: readonly SessionChange[] = []): readonly string[] =>
  changes.map((change) => (change.type === 'session' ? change.session.id : change.id))

test('a slow reader gets the latest of each session, the newest last', async () => {
  const pending = new PendingChanges(() => undefined)
  for (const change of [changed('a'), changed('b'), changed('a', 7)]) pending.put(change)
  expect(await pending.next()).toEqual([changed('b'), changed('a', 7)])
  pending.put(changed('b'))
  pending.put({ type: 'forgotten', id: 'b' })
  expect(await pending.next()).toEqual([{ type: 'forgotten', id: 'b' }])
})

test('as many sessions as it can hold are all read, however often each changes', async () => {
  const pending = new PendingChanges(() => undefined)
  for (const id of [...idsUpTo(PENDING_CHANGES_MAX), ...idsUpTo(PENDING_CHANGES_MAX)]) pending.put(changed(id))
  expect(idsOf(await pending.next())).toEqual(idsUpTo(PENDING_CHANGES_MAX))
  expect(pending.fellBehind).toBe(false)
})

test('one more ends it, and nothing that is incomplete is read', async () => {
  const ended = vi.fn<() => void>()
  const pending = new PendingChanges(ended)
  for (const id of idsUpTo(PENDING_CHANGES_MAX + 1)) pending.put(changed(id))
  expect(pending.fellBehind).toBe(true)
  pending.put(changed('later'))
  expect(await pending.next()).toBeUndefined()
  expect(ended).toHaveBeenCalledOnce()
})

test('what was put in before its end is read first, and then the failure is thrown', async () => {
  const pending = new PendingChanges(() => undefined)
  pending.put(changed('a'))
  pending.end({ thrown: new Error('the source is gone') })
  expect(idsOf(await pending.next())).toEqual(['a'])
  await expect(pending.next()).rejects.toThrow('the source is gone')
  expect(pending.fellBehind).toBe(false)
})

test('a reader that waits hears of its end, and of the abort of its call', async () => {
  const pending = new PendingChanges(() => undefined)
  const aborting = new AbortController()
  const aborted = pending.next(aborting.signal)
  aborting.abort()
  expect(await aborted).toBeUndefined()
  const waiting = pending.next()
  pending.close()
  expect(await waiting).toBeUndefined()
})
