import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { logSubject } from '../src/subjects.js'
import { readAll, readSome, startLogHost } from './support/fleet-hosts.ts'
import { LocalLog } from './support/local-log.ts'
import { startNats } from './support/nats-servers.ts'

/** What the log needs of NATS. */
const RIGHTS = [
  'agentproto.log.*',
  '$JS.API.STREAM.INFO.agentproto-log',
  '$JS.API.STREAM.CREATE.agentproto-log',
  '$JS.API.STREAM.PURGE.agentproto-log',
  '$JS.API.STREAM.MSG.GET.agentproto-log',
  '$JS.API.DIRECT.GET.agentproto-log',
  '$JS.API.CONSUMER.CREATE.agentproto-log.>',
  '$JS.API.CONSUMER.MSG.NEXT.agentproto-log.*',
  '$JS.API.CONSUMER.DELETE.agentproto-log.*',
]

test('17.7 logs are published, read and removed with the least rights', needs('nats-server'), async () => {
  const { url } = await startNats({ config: configOf(RIGHTS) })
  const host = await startLogHost([url])
  const local = new LocalLog('s_1')
  const publication = host.publisher.publish('s_1', local.follow)
  for (let batch = 0; batch < 5; batch += 1) {
    local.append(10)
    await host.publisher.drain(10_000)
  }
  expect(await readSome(host.log.follow('s_1', 25), 25)).toEqual(local.records.slice(25))
  expect(await host.log.read('s_1', 7, 3)).toEqual({ records: local.records.slice(7, 10) })
  local.end()
  expect(await publication.done).toMatchObject({ type: 'complete' })
  expect(await readAll(host.log.follow('s_1', 0))).toEqual(local.records)
  await host.log.remove('s_1')
  expect(await host.log.lastSeq('s_1')).toBe(0)
})

test('17.7 a host that may not write to the logs is told which subject it lacks', needs('nats-server'), async () => {
  const { url } = await startNats({ config: configOf(RIGHTS.filter((right) => !right.includes('STREAM.INFO'))) })
  await expect(startLogHost([url])).rejects.toMatchObject({
    code: 'cluster_unsupported',
    message: expect.stringContaining('$JS.API.STREAM.INFO.agentproto-log'),
  })
})

test('17.7 a publisher without the right to a log says so once, and goes on trying', needs('nats-server'), async () => {
  const { url } = await startNats({ config: configOf(RIGHTS.filter((right) => right !== 'agentproto.log.*')) })
  const host = await startLogHost([url])
  const local = new LocalLog('s_1')
  local.append(3)
  host.publisher.publish('s_1', local.follow)
  await expect.poll(() => host.problems, { timeout: 20_000 }).toEqual([expect.stringContaining(logSubject('s_1'))])
  expect(await host.publisher.drain(1_000)).toBe(false)
  expect(host.problems).toHaveLength(1)
})

test('17.7 a reader without the right to read says so once, and waits', needs('nats-server'), async () => {
  const { url } = await startNats({ config: configOf(RIGHTS.filter((right) => !right.includes('CONSUMER.CREATE'))) })
  const host = await startLogHost([url])
  const reader = host.log.follow('s_1', 0)
  const waiting = reader.next()
  await expect.poll(() => host.problems).toEqual([expect.stringContaining('CONSUMER.CREATE.agentproto-log')])
  reader.close()
  expect(await waiting).toBeUndefined()
})

/** One user without a password, who may only do this. */
const configOf = (rights: readonly string[]): string => `
  no_auth_user: gateway
  authorization: { users: [{
    user: gateway, password: gateway,
    permissions: { publish: ${JSON.stringify(rights)}, subscribe: ["_INBOX.>"] }
  }] }
`
