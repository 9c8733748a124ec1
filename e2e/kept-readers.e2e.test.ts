import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { SessionEvent } from '@agentproto/client'
import { asRecord, parseJson } from '@agentproto/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { CLI, type Daemon } from './support/daemon.js'
import { readEventStream } from './support/event-stream.js'
import { allEvents, numbersOf, ofType, startKeeping } from './support/kept-agents.js'
import { allowOnce, pendingPermission } from './support/pending-request.js'

// Who reads a session, and who is told of it, when its gateway is killed.

test('16.3 a client that follows a session finds every event once, across two killed gateways', async () => {
  const { home, first, next } = await startKeeping('kept-client')
  const { id } = await first.client.sessions.start({ adapter: 'demo', cwd: home })
  await first.client.sessions.prompt(id, { prompt: 'stream 300 20; write end.txt' })
  const seen: SessionEvent[] = []
  const following = (async () => {
    for await (const event of first.client.sessions.events(id)) {
      seen.push(event)
      if (event.type === 'turn-end') return
    }
  })()
  await expect.poll(() => ofType(seen, 'text-delta').length).toBeGreaterThan(0)
  await first.crash()
  const second = await next()
  const before = seen.length
  await expect.poll(() => seen.length).toBeGreaterThan(before)
  await second.crash()
  const { client } = await next()
  await following
  expect(seen.map(({ seq }) => seq)).toEqual(numbersOf(seen))
  expect(seen).toEqual((await allEvents(client, id)).slice(0, seen.length))
  expect(ofType(seen, 'repair')).toEqual([])
})

test('16.3 a reader of the event stream goes on with Last-Event-ID, without a gap or a repeat', async () => {
  const { home, first, next } = await startKeeping('kept-cursor')
  const { id } = await first.client.sessions.start({ adapter: 'demo', cwd: home })
  await first.client.sessions.prompt(id, { prompt: 'stream 300 20; ask end.txt' })
  const ids: number[] = []
  const read = async ({ url, token }: Daemon): Promise<void> => {
    const cursor = ids.length === 0 ? {} : { lastEventId: String(ids.at(-1)) }
    for await (const { id: seq, event } of readEventStream(`${url}/sessions/${id}/events`, { token, ...cursor })) {
      if (seq !== undefined) ids.push(Number(seq))
      if (event === 'agent-prompt') return
    }
  }
  const broken = read(first).catch(() => 'broken')
  await expect.poll(() => ids.length).toBeGreaterThan(3)
  await first.crash()
  expect(await broken).toBe('broken')
  const second = await next()
  await read(second)
  expect(ids).toEqual(ids.map((_, at) => at + 1))
  const asked = await pendingPermission(second.client, id)
  await second.client.sessions.answer(id, asked.requestId, { optionId: allowOnce(asked) })
  await second.client.sessions.waitTurn(id, 1)
})

test('16.3 a notification, a line of the audit and the usage of a turn are there once', async () => {
  const { url, received } = await receiver()
  const notify = { delayMs: 0, turnMs: 0, webhook: { url, allowPrivate: true } }
  const { home, first, next } = await startKeeping('kept-news', {
    config: { notify },
    prepare: setWebhookSecret,
  })
  const { id } = await first.client.sessions.start({ adapter: 'demo', cwd: home })
  await first.client.sessions.prompt(id, {
    prompt: 'usage 1 100; write one.txt; ask two.txt; usage 3 50; write three.txt',
  })
  const asked = await pendingPermission(first.client, id)
  await expect.poll(() => received.map(({ type }) => type)).toEqual(['session.request'])
  await first.crash()

  const second = await next()
  await pendingPermission(second.client, id)
  await second.crash()
  const { client } = await next()
  await client.sessions.answer(id, asked.requestId, { optionId: allowOnce(asked) })
  expect(await client.sessions.waitTurn(id, 1)).toMatchObject({ reason: 'end_turn' })
  await expect.poll(() => received.map(({ type }) => type)).toContain('session.turn_end')
  expect(new Set(received.map(({ id: message }) => message)).size).toBe(2)
  expect(received.filter(({ type }) => type === 'session.turn_end')).toHaveLength(1)

  const lines = auditOf(home).filter(({ sessionId }) => sessionId === id)
  const calls = lines.filter(({ toolCallId }) => toolCallId !== undefined)
  expect(calls.map(({ toolCallId, action }) => `${String(action)} ${String(toolCallId)}`)).toEqual([
    ...new Set(calls.map(({ toolCallId, action }) => `${String(action)} ${String(toolCallId)}`)),
  ])
  const { total } = await client.usage()
  expect(total).toMatchObject({ turns: 1, cost: [{ amount: 3, currency: 'USD' }] })
  expect((await client.sessions.get(id)).usage).toMatchObject({ turns: 1, cost: [{ amount: 3, currency: 'USD' }] })
})

function setWebhookSecret(home: string): void {
  const set = spawnSync(process.execPath, [CLI, 'secrets', 'set', 'notify-webhook', '--store', 'file'], {
    input: `whsec_${Buffer.alloc(32, 7).toString('base64')}\n`,
    encoding: 'utf8',
    env: { ...process.env, HOME: home, AGENTPROTO_HOME: join(home, '.agentproto') },
  })
  expect(set).toMatchObject({ status: 0 })
}

interface Notification {
  readonly id: string
  readonly type: unknown
}

/** A server that gets webhooks, which outlives the gateway. */
async function receiver(): Promise<{ readonly url: string; readonly received: readonly Notification[] }> {
  const received: Notification[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ id: String(request.headers['webhook-id']), type: asRecord(parseJson(body))['type'] })
      response.writeHead(204).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received }
}

const auditOf = (home: string): readonly Record<string, unknown>[] =>
  readFileSync(join(home, '.agentproto', 'logs', 'audit.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => asRecord(parseJson(line)))
