import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { homeLayout } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { natsUser } from '../../fleet/test/support/nats-user.ts'
import { type NatsServer, startNats } from '../../fleet/test/support/nats-servers.ts'
import { needs } from '../../../tooling/needs.ts'
import { checkCluster } from '../src/doctor/cluster.js'
import type { Finding } from '../src/doctor/finding.js'
import { folder } from './cli-process.js'

/** A home whose config.json names the cluster, with a key. */
function homeOf(cluster: object): ReturnType<typeof homeLayout> {
  const home = homeLayout(folder())
  writeFileSync(home.fleetKey, `${'k'.repeat(43)}\n`, { mode: 0o600 })
  writeFileSync(home.config, JSON.stringify({ cluster: { host: 'desk', ...cluster } }))
  return home
}

const found = async ({ url }: Pick<NatsServer, 'url'>, more: object = {}): Promise<Finding> =>
  checkCluster(homeOf({ servers: [url], ...more }))

test('17.8 doctor says that a host belongs to no fleet', async () => {
  expect(await checkCluster(homeLayout(folder()))).toMatchObject({
    verdict: 'ok',
    detail: expect.stringContaining('no fleet'),
  })
})

test('17.8 doctor names the server of a fleet, its replicas and how far away it is', needs('nats-server'), async () => {
  expect(await found(await startNats())).toMatchObject({
    verdict: 'ok',
    detail: expect.stringMatching(/^desk at nats-server 2\.\d+\.\d+, 1 server, 1 replica, \d+ ms$/) as string,
  })
})

test(
  '17.8 doctor says what a fleet lacks: a server, JetStream, a right, or a key that only its owner can read',
  needs('nats-server'),
  async () => {
    const nats = await startNats()
    const open = homeOf({ servers: [nats.url] })
    chmodSync(open.fleetKey, 0o644)
    expect(await checkCluster(open)).toMatchObject({ verdict: 'fail', detail: expect.stringContaining('0600') })
    await nats.kill()
    expect(await found(nats)).toMatchObject({ verdict: 'fail', detail: expect.stringContaining('No NATS server') })
    expect(await found(await startNats({ jetstream: false }))).toMatchObject({
      verdict: 'fail',
      detail: expect.stringContaining('JetStream is off'),
    })
    const { publicKey, seed } = natsUser()
    const nkey = join(folder(), 'desk.nk')
    writeFileSync(nkey, seed, { mode: 0o600 })
    const permissions = '{ publish: ["$JS.API.>"], subscribe: ["_INBOX.>", "agentproto.answer.desk.*"] }'
    const strict = `accounts { a { jetstream: enabled, users: [{ nkey: ${publicKey}, permissions: ${permissions} }] } }`
    expect(await found(await startNats({ config: strict }), { nkey })).toMatchObject({
      verdict: 'fail',
      detail: expect.stringContaining('agentproto.call.desk'),
    })
  },
)
