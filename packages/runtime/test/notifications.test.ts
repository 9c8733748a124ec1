import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { homeLayout } from '@agentproto/contracts/agent'
import { createSecrets } from '@agentproto/secrets'
import { expect, test } from 'vitest'
import { receiver, SECRET, verified } from '../../server/test/fixtures/receiver.ts'
import { parseExposition } from './fixtures/exposition.js'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

const owner = { type: 'owner', name: 'owner' } as const
const until = { timeout: 20_000 }

test('14.2.3 a request of an agent reaches the webhook, signed with a secret of the home; one that a mode answers does not', async () => {
  const { url, received } = await receiver()
  const home = await temporaryHome()
  await createSecrets({ home, env: {}, keyring: 'none' }).set('notify-webhook', { kind: 'opaque', value: SECRET })
  const notify = { delayMs: 0, webhook: { url, allowPrivate: true } }
  const gateway = await testGateway({ home, notify })
  const { sessions } = gateway
  await sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'ask', permissionMode: 'approve-all' }, owner)
  const { id } = await sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'ask', label: 'waits' }, owner)
  await expect.poll(() => received.length, until).toBe(1)
  const [request] = await sessions.requests(id)
  expect(received.map(verified)).toMatchObject([
    { type: 'session.request', data: { sessionId: id, label: 'waits', requestId: request?.requestId } },
  ])
  expect(received[0]?.body).not.toContain(SECRET)

  // The receiver has it before its answer is back.
  await expect.poll(async () => (await gateway.notifications.state()).targets[0]?.delivered, until).toBe(1)
  const headers = { authorization: `Bearer ${gateway.token}`, host: 'localhost' }
  const call = async (method: string, path: string): Promise<Response> => gateway.app.request(path, { method, headers })
  expect(await (await call('GET', '/notifications')).json()).toMatchObject({
    targets: [{ target: 'webhook', to: new URL(url).origin, waiting: 0, delivered: 1, failures: 0, dropped: {} }],
  })
  expect(await (await call('POST', '/notifications/test')).json()).toMatchObject({ results: [{ ok: true }] })
  expect(received).toHaveLength(2)
  const metrics = parseExposition(await (await call('GET', '/metrics')).text())
  expect(metrics.get('agentproto_notifications_total')?.samples.get('{target="webhook"}')).toBe(1)
  // Only an admin sees and sends them.
  const { token } = await gateway.tokens.create({ name: 'phone', scope: 'operate' }, owner)
  const asPhone = { ...headers, authorization: `Bearer ${token}` }
  expect((await gateway.app.request('/notifications', { headers: asPhone })).status).toBe(403)
  expect((await gateway.app.request('/notifications/test', { method: 'POST', headers: asPhone })).status).toBe(403)
})

test('14.2.3 the next gateway of a home delivers what the last one could not', async () => {
  const home = await temporaryHome()
  await createSecrets({ home, env: {}, keyring: 'none' }).set('notify-webhook', { kind: 'opaque', value: SECRET })
  const { url, received } = await receiver()
  const down = { delayMs: 0, webhook: { url: 'http://127.0.0.1:9/', allowPrivate: true } }
  const first = await testGateway({ home, notify: down })
  await first.sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'ask' }, owner)
  await expect.poll(async () => (await first.notifications.state()).targets[0]?.failures, until).toBe(1)
  await first.close()
  const { outbox, config } = homeLayout(home)
  expect(await readdir(outbox)).toHaveLength(1)

  await writeFile(config, JSON.stringify({ notify: { webhook: { url, allowPrivate: true } } }))
  const second = await testGateway({ home })
  await expect.poll(() => received.length, until).toBe(1)
  expect(received.map(verified)).toMatchObject([{ type: 'session.request' }])
  await expect.poll(() => readdir(outbox), until).toEqual([])
  await second.close()
  expect(join(home, 'outbox')).toBe(outbox)
})
