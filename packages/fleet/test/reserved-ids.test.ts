import { systemClock } from '@agentproto/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { OwnSessions } from '../src/own-sessions.ts'
import { startNats } from './support/nats-servers.ts'
import { joinHost, testSession } from './support/test-host.ts'

const IMPORTED = { id: 's_old', hostId: 'c', at: '2026-11-23T10:00:00.000Z' }

test(
  '17.2 an id that a host has reserved for an import, when it was killed, is free again with its next run, and no other one is',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const [a, b] = [await joinHost('a', [url]), await joinHost('b', [url])]
    const reserved = testSession('reserved', { imported: IMPORTED, lastSeq: 0 })
    const whole = testSession('whole', { imported: IMPORTED, lastSeq: 7 })
    expect(await a.sessions.reserve(reserved)).toBe(true)
    await a.sessions.claim(whole)
    await a.sessions.claim(testSession('own'))
    expect(await b.sessions.reserve(reserved)).toBe(false)
    // Nothing of the import is stored here: it was killed between the two.
    await a.cluster.close()

    const again = await joinHost('a', [url])
    const removed: string[] = []
    const own = new OwnSessions({
      host: 'a',
      sessions: {
        list: async () => ({ sessions: [] }),
        watch: () => ({ next: async () => undefined, close: () => undefined }),
        follow: () => expect.unreachable(),
      },
      moves: { settingsOf: () => ({}) },
      directory: again.sessions,
      publisher: { publish: () => expect.unreachable() },
      log: { remove: async (id) => void removed.push(id) },
      clock: systemClock,
      onProblem: (problem) => expect.unreachable(problem),
    })
    onTestFinished(() => own.close())
    await expect.poll(() => b.sessions.get('reserved')).toBeUndefined()
    await expect.poll(() => removed).toEqual(['reserved'])
    expect([...again.sessions.ownedBy('a')].toSorted()).toEqual(['own', 'whole'])
    expect(await b.sessions.reserve(reserved)).toBe(true)
  },
)
