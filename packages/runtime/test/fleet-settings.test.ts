import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type ClusterOptions, type GatewayOptions } from '@agentproto/runtime'
import { settingsOf } from '../src/settings.js'
import { temporaryHome } from './fixtures/temporary-home.js'

async function fleetOf(config: unknown, cluster?: ClusterOptions) {
  const home = await temporaryHome()
  await writeFile(join(home, 'config.json'), JSON.stringify(config))
  const { fleet } = await settingsOf({ home, ...(cluster && { cluster }) })
  return { home, fleet }
}

const servers = ['nats://127.0.0.1:4222']

test('17.1 without a cluster a gateway belongs to no fleet', async () => {
  expect((await fleetOf({})).fleet).toBeUndefined()
  expect((await fleetOf({ cluster: {} }, {})).fleet).toBeUndefined()
})

test('17.1 the options of the cluster override those of config.json, and the key is in the home unless said', async () => {
  const config = { cluster: { servers, host: 'desk', labels: { gpu: 'yes' }, tls: { ca: '/ca.pem' } } }
  const { home, fleet } = await fleetOf(config, { host: 'laptop', tls: { cert: '/c.pem', key: '/k.pem' } })
  expect(fleet).toEqual({
    servers,
    host: 'laptop',
    labels: { gpu: 'yes' },
    tls: { ca: '/ca.pem', cert: '/c.pem', key: '/k.pem' },
    key: join(home, 'fleet.key'),
  })
  expect((await fleetOf({ cluster: { servers, key: '/etc/fleet.key' } })).fleet?.key).toBe('/etc/fleet.key')
})

test('17.1 the default name of a host has only characters that a name has in NATS', async () => {
  expect((await fleetOf({ cluster: { servers } })).fleet?.host).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/)
})

test.each<[string, ClusterOptions, RegExp]>([
  ['no servers', { host: 'desk' }, /no servers.*--cluster/],
  ['an upper-case name', { servers, host: 'Desk' }, /name of the host.*Given: Desk/],
  ['a name with a dot', { servers, host: 'desk.local' }, /name of the host/],
  ['a label without a name', { servers, labels: { '': 'x' } }, /labels/],
  ['a label with a space', { servers, labels: { 'a b': 'x' } }, /labels/],
  ['a label without a value', { servers, labels: { a: '' } }, /labels/],
  ['a relative key', { servers, key: 'fleet.key' }, /absolute path/],
])('17.1 %s is refused with what is expected', async (_what, cluster, message) => {
  await expect(fleetOf({}, cluster)).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringMatching(message) as string,
  })
})

test.each<[string, object, string]>([
  ['an address with a password', { servers: ['nats://me:secret@host:4222'] }, 'without a user or password'],
  ['an address that is no list', { servers: 'nats://host:4222' }, 'servers'],
  ['an unknown key', { server: servers }, 'Did you mean servers?'],
  ['a password', { servers, password: 'x' }, 'password'],
  ['a relative path', { servers, credentials: 'x.creds' }, 'absolute path'],
])('17.1 %s in config.json stops the start', async (_what, cluster, message) => {
  await expect(fleetOf({ cluster })).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining(message) as string,
  })
})

test('17.1 a gateway in memory joins the fleet of its options', async () => {
  const options: GatewayOptions = { store: 'memory', cluster: { servers, host: 'desk' } }
  expect((await settingsOf(options)).fleet?.host).toBe('desk')
})
