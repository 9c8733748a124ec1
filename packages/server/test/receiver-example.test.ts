import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@agentproto/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { addressReach } from '../../sandbox/src/address-reach.ts'
import { sendWebhook } from '../src/notify/webhook.js'
import { SECRET } from './fixtures/receiver.js'

const PAGE = new URL('../../../docs/notifications.md', import.meta.url)

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

test('14.2.3 the receiver of the documentation accepts what the gateway signs, once, and nothing else', async () => {
  const [, example = ''] = /^```js\n([\s\S]*?)^```$/m.exec(await readFile(PAGE, 'utf8')) ?? []
  // Beside the test, so that it finds the library.
  const file = fileURLToPath(new URL(`./example-receiver-${process.pid}.mjs`, import.meta.url))
  await writeFile(file, example)
  onTestFinished(() => rm(file, { force: true }))
  const port = await freePort()
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: SECRET }
  const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(async () => {
    child.kill()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  const lines: string[] = []
  createInterface(child.stdout).on('line', (line) => lines.push(line))
  const receiver = {
    url: `http://127.0.0.1:${port}/`,
    allowPrivate: true,
    secret: async () => SECRET,
    secretSlug: 'notify-webhook',
    userAgent: 'agentproto/0',
    clock: systemClock,
    loadReach: async () => addressReach,
  }
  const body =
    '{"type":"session.request","timestamp":"2026-01-01T00:00:00.000Z","data":{"hostId":"h","label":"refactor"}}'
  const send = (id: string, more: object = {}) =>
    sendWebhook({ ...receiver, ...more }, { id, body }, new AbortController().signal)
  await expect.poll(() => send('msg_1'), { timeout: 10_000 }).toEqual({ ok: true, status: 204 })
  expect(await send('msg_1')).toEqual({ ok: true, status: 204 })
  const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
  expect(await send('msg_2', { secret: async () => other })).toMatchObject({ ok: false, status: 401 })
  expect(await send('msg_3')).toEqual({ ok: true, status: 204 })
  await expect.poll(() => lines).toEqual(['session.request refactor', 'session.request refactor'])
})
