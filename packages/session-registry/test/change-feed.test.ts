import type { Session } from '@agentproto/contracts'
import { PENDING_CHANGES_MAX } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { FakeClock } from '../../gateway-http/test/fake-clock.ts'
import { ChangeFeed } from '../src/change-feed.ts'
import type { SessionHandle } from '../src/session/session-handle.ts'

test('a watcher that is too far behind ends; one that reads, and one that may see fewer sessions, go on', async () => {
  const feed = new ChangeFeed(new FakeClock())
  const [slow, fast, narrow] = [feed.watch(), feed.watch(), feed.watch(({ id }) => id === 's1')]
  for (let n = 0; n < PENDING_CHANGES_MAX; n++) feed.changed(handleOf(`s${n}`), true)
  expect(await fast.next()).toHaveLength(PENDING_CHANGES_MAX)
  feed.forgotten(handleOf('one more').snapshot())
  expect(await slow.next()).toBeUndefined()
  expect([slow.fellBehind, fast.fellBehind, narrow.fellBehind]).toEqual([true, false, false])
  expect(await fast.next()).toEqual([{ type: 'forgotten', id: 'one more' }])
  expect(await narrow.next()).toMatchObject([{ session: { id: 's1' } }])
  expect(feed.watchers.size).toBe(2)
})

test('a watcher that its reader closes, or that begins after the end of the registry, has not fallen behind', async () => {
  const feed = new ChangeFeed(new FakeClock())
  const closed = feed.watch()
  closed.close()
  feed.close()
  const late = feed.watch()
  for (const watcher of [closed, late]) {
    expect(await watcher.next()).toBeUndefined()
    expect(watcher.fellBehind).toBe(false)
  }
  expect(feed.watchers.size).toBe(0)
})

const handleOf = (id: string): SessionHandle => ({ id, snapshot: () => ({ id }) as Session }) as SessionHandle
