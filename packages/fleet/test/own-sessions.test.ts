import { type Session, systemClock } from '@agentproto/contracts'
import { PENDING_CHANGES_MAX, PendingChanges } from '@agentproto/contracts/wire'
import { expect, onTestFinished, test } from 'vitest'
import { OwnSessions } from '../src/own-sessions.ts'
import { testSession } from './support/test-host.ts'

test('17.2 a host whose changes were too many to hold reports all its sessions again, and takes back those that were deleted', async () => {
  const here = new Map([ended('stays'), ended('deleted')])
  const fleet = new Map<string, Session>()
  const watches: PendingChanges[] = []
  const own = new OwnSessions({
    host: 'a',
    sessions: {
      list: async () => ({ sessions: [...here.values()] }),
      watch() {
        const watch = new PendingChanges(() => undefined)
        watches.push(watch)
        return watch
      },
      follow: () => expect.unreachable(),
    },
    moves: { settingsOf: () => ({}) },
    directory: {
      get: () => undefined,
      // One is being moved here: its session is not here yet.
      ownedBy: () => new Set([...fleet.keys(), 'arriving']),
      keep: (session) => void fleet.set(session.id, session),
      claim: async () => ({ epoch: 1 }) as never,
      complete: async () => undefined,
      forget: async (id) => {
        expect(id).not.toBe('arriving')
        fleet.delete(id)
      },
    },
    publisher: { publish: () => expect.unreachable() },
    log: { remove: async () => undefined },
    clock: systemClock,
    onProblem: (problem) => expect.unreachable(problem),
  })
  onTestFinished(() => own.close())
  await expect.poll(() => [...fleet.keys()]).toEqual(['stays', 'deleted'])

  here.delete('deleted')
  here.set(...ended('new'))
  for (let n = 0; n <= PENDING_CHANGES_MAX; n++) watches[0]?.put({ type: 'forgotten', id: `s${n}` })
  await expect.poll(() => [...fleet.keys()]).toEqual(['stays', 'new'])

  const [id, session] = ended('later')
  watches[1]?.put({ type: 'session', session })
  await expect.poll(() => fleet.has(id)).toBe(true)
  own.close()
  await own.done
  expect(watches).toHaveLength(2)
})

/** All its events are in the log of the fleet. */
const ended = (id: string): readonly [string, Session] => [id, testSession(id, { status: 'exited', lastSeq: 0 })]
