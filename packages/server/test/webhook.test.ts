import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { systemClock } from '@agentproto/contracts'
import { expect, onTestFinished, test, vi } from 'vitest'
import { FakeClock } from '../../gateway-http/test/fake-clock.ts'
import { addressReach } from '../../sandbox/src/address-reach.ts'
import { type Receiver, sendWebhook } from '../src/notify/webhook.js'
import { receiver, SECRET, verified } from './fixtures/receiver.js'

const message = { id: 'msg_1', body: '{"type":"notify.test","timestamp":"2026-01-01T00:00:00.000Z","data":{}}' }
const { signal } = new AbortController()

const to = (url: string, more: Partial<Receiver> = {}): Receiver => ({
  url,
  allowPrivate: true,
  secret: async () => SECRET,
  secretSlug: 'notify-webhook',
  userAgent: 'agentproto/0',
  clock: systemClock,
  loadReach: async () => addressReach,
  ...more,
})

test('14.2.3 a webhook has the id, the time and the signature of Standard Webhooks, which a receiver verifies', async () => {
  const { url, received } = await receiver()
  expect(await sendWebhook(to(url), message, signal)).toEqual({ ok: true, status: 204 })
  expect(received).toMatchObject([{ id: 'msg_1', body: message.body }])
  expect(received.map(verified)).toEqual([JSON.parse(message.body)])
  const forged = received.map((each) => ({ ...each, body: each.body.replace('test', 'fake') }))
  expect(() => forged.map(verified)).toThrow('No matching signature')
})

test('14.2.3 a redirect is not followed, least of all to a metadata address', async () => {
  const other = await receiver()
  for (const location of [other.url, 'http://169.254.169.254/latest/meta-data/']) {
    const { url, received } = await receiver((response) => void response.writeHead(307, { location }).end())
    const delivery = await sendWebhook(to(url), message, signal)
    expect(delivery).toMatchObject({ ok: false, status: 307, problem: expect.stringContaining('not followed') })
    expect(received).toHaveLength(1)
  }
  expect(other.received).toEqual([])
})

test('14.2.3 without allowPrivate nothing connects to this machine, by address or by name', async () => {
  const { url, received } = await receiver()
  for (const address of [url, url.replace('127.0.0.1', 'localhost'), url.replace('127.0.0.1', '[::ffff:127.0.0.1]')]) {
    const delivery = await sendWebhook(to(address, { allowPrivate: false }), message, signal)
    expect(delivery).toMatchObject({ ok: false, problem: expect.stringContaining('allowPrivate is not set') })
  }
  expect(await sendWebhook(to('http://169.254.169.254/'), message, signal)).toMatchObject({ ok: false })
  // Other spellings of 127.0.0.1 are that address.
  for (const spelling of ['0x7f000001', '2130706433', '0177.1', '127.1'])
    expect(
      await sendWebhook(to(url.replace('127.0.0.1', spelling), { allowPrivate: false }), message, signal),
    ).toMatchObject({ ok: false, problem: expect.stringContaining('allowPrivate') })
  expect(received).toEqual([])
})

test('14.2.3 a receiver that answers slowly or never costs ten seconds', async () => {
  const clock = new FakeClock()
  // It accepts and says nothing.
  const server = createServer(() => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const connected = once(server, 'connection')
  const sent = sendWebhook(to(`http://127.0.0.1:${port}/`, { clock }), message, signal)
  const [socket] = (await connected) as [{ destroy(): void; on(event: 'error', listener: () => void): void }]
  socket.on('error', () => undefined)
  await vi.waitFor(() => expect(clock.pending).toBe(1))
  clock.advance(10_000)
  expect(await sent).toEqual({ ok: false, problem: 'no answer within 10 s' })
  socket.destroy()
})

test('14.2.3 the answer of a receiver is not read: one without an end costs nothing', async () => {
  const { url } = await receiver((response) => {
    response.writeHead(200)
    const flood = setInterval(() => response.write('x'.repeat(65_536)), 1)
    response.on('close', () => clearInterval(flood))
  })
  expect(await sendWebhook(to(url), message, signal)).toEqual({ ok: true, status: 200 })
})

test('14.2.3 a receiver says how long to wait, in seconds or by a date', async () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  const clock = { ...systemClock, now: () => now }
  for (const [retryAfter, retryAfterMs] of [
    ['120', 120_000],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
  ] as const) {
    const { url } = await receiver((response) => void response.writeHead(503, { 'retry-after': retryAfter }).end())
    expect(await sendWebhook(to(url, { clock }), message, signal)).toMatchObject({
      ok: false,
      status: 503,
      retryAfterMs,
    })
  }
})

test.each([
  [undefined, 'the secret notify-webhook is not set: agentproto secrets set notify-webhook'],
  ['short', 'is not valid'],
  ['whsec_????', 'is not valid'],
])('14.2.3 with the secret %j nothing is sent', async (secret, problem) => {
  const { url, received } = await receiver()
  const delivery = await sendWebhook(to(url, { secret: async () => secret }), message, signal)
  expect(delivery).toEqual({ ok: false, problem: expect.stringContaining(problem) })
  expect(received).toEqual([])
})

test('14.2.3 a certificate that nobody vouches for is refused', async () => {
  const { url } = await receiver()
  const delivery = await sendWebhook(to(url.replace('http:', 'https:')), message, signal)
  expect(delivery).toMatchObject({ ok: false })
})
