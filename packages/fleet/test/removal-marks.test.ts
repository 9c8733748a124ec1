import { systemClock } from '@agentproto/contracts'
import { jetstreamManager } from '@nats-io/jetstream'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { Bucket } from '../src/cluster/bucket.ts'
import { KEPT_MS, RemovalMarks } from '../src/directory/removal-marks.ts'
import { SESSIONS_BUCKET } from '../src/subjects.ts'
import { startNats } from './support/nats-servers.ts'
import { joinHost, testSession } from './support/test-host.ts'

test(
  '17.4 what is left of removed sessions is removed a month later, and nothing else',
  needs('nats-server'),
  async () => {
    const { url } = await startNats()
    const { cluster, sessions, hosts } = await joinHost('a', [url])
    for (const id of ['kept', 'again', 'gone']) await sessions.claim(testSession(id))
    for (const id of ['again', 'gone']) await sessions.forget(id)
    const messages = async (): Promise<number> => {
      const manager = await jetstreamManager(cluster.nats)
      return (await manager.streams.info(`KV_${SESSIONS_BUCKET}`)).state.messages
    }
    expect(await messages()).toBe(3)
    const bucket = await Bucket.open(cluster, { name: SESSIONS_BUCKET, onProblem: () => {} })
    let laterMs = 0
    const clock = { now: () => Date.now() + laterMs, after: systemClock.after }
    const marks = new RemovalMarks({ bucket, clock, isMine: () => hosts.isFirst })
    expect(hosts.isFirst).toBe(true)
    expect(await marks.clean()).toBe(0)
    laterMs = KEPT_MS + 1_000
    expect(await marks.clean()).toBe(2)
    expect(await messages()).toBe(1)
    expect(await marks.clean()).toBe(0)
    await sessions.forget('kept')
    expect(await marks.clean()).toBe(1)
    expect(await marks.clean()).toBe(0)
    marks.close()
    expect(await messages()).toBe(0)
  },
)
