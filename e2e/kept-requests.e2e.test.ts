import type { Client, SessionRequest } from '@agentproto/client'
import { expect, test } from 'vitest'
import type { Daemon } from './support/daemon.js'
import { agentsIn, allEvents, endedTurns, numbersOf, ofType, startKeeping, textIn } from './support/kept-agents.js'
import { allowOnce, pendingPermission } from './support/pending-request.js'

// What people have said to an agent, and what it has asked them, when its gateway is killed.

test('16.3 a question stays pending with its id, and the waiting agent gets its answer', async () => {
  const { home, first, next } = await startKeeping('kept-question')
  const { id } = await first.client.sessions.start({ adapter: 'demo', cwd: home })
  await first.client.sessions.prompt(id, { prompt: 'stream 2; question Which one?' })
  const asked = await pendingQuestion(first.client, id)
  await first.crash()

  const second = await next()
  const { client } = second
  expect(await pendingQuestion(client, id)).toEqual(asked)
  await client.sessions.answer(id, asked.requestId, { action: 'accept', content: { colour: 'green' } })
  await second.crash()
  const last = await next()
  expect(await last.client.sessions.waitTurn(id, 1)).toMatchObject({
    reason: 'end_turn',
    text: expect.stringContaining('The answer was accept {"colour":"green"}.') as string,
  })
  const events = await whole(last.client, id)
  expect(ofType(events, 'agent-prompt')).toHaveLength(1)
  expect(ofType(events, 'agent-prompt-resolved')).toHaveLength(1)
})

test('16.3 queued prompts stay in their order, with their attachments, and one can still be withdrawn', async () => {
  const { home, first, next } = await startKeeping('kept-queue')
  const { id } = await first.client.sessions.start({ adapter: 'demo', cwd: home })
  await first.client.sessions.prompt(id, { prompt: 'ask queue.txt' })
  const asked = await pendingPermission(first.client, id)
  const prompts = [
    [{ type: 'text', text: 'look at this' } as const, IMAGE],
    'the second',
    'the third',
    [{ type: 'text', text: 'and this' } as const, IMAGE],
  ]
  for (const prompt of prompts) await first.client.sessions.prompt(id, { prompt, whenBusy: 'queue' })
  await first.crash()

  const { client } = await next()
  expect(await client.sessions.get(id)).toMatchObject({ queuedPrompts: 4, turn: { number: 1 } })
  await client.sessions.interrupt(id, { turn: 4 })
  await client.sessions.answer(id, asked.requestId, { optionId: allowOnce(asked) })
  await expect.poll(() => endedTurns(client, id)).toBe(5)
  const sent = ofType(await whole(client, id), 'user-prompt')
  expect(sent.map(({ content, sent: isSent = true }) => [content, isSent])).toEqual([
    [[{ type: 'text', text: 'ask queue.txt' }], true],
    [prompts[0], true],
    [[{ type: 'text', text: 'the second' }], true],
    [[{ type: 'text', text: 'the third' }], false],
    [prompts[3], true],
  ])
})

test('16.3 an interrupt that nobody confirmed can be sent again, and what was queued is never sent', async () => {
  const { home, first, next } = await startKeeping('kept-interrupt')
  const { id } = await first.client.sessions.start({ adapter: 'demo', cwd: home })
  await first.client.sessions.prompt(id, { prompt: 'stream 100000 20' })
  await expect.poll(async () => textIn(await allEvents(first.client, id))).toContain('chunk 2')
  await first.client.sessions.prompt(id, { prompt: 'never', whenBusy: 'queue' })
  const interrupted = interruptAbandoned(first, id)
  await expect.poll(async () => (await first.client.sessions.get(id)).queuedPrompts ?? 0).toBe(0)
  await first.crash()
  await interrupted

  const { client } = await next()
  await client.sessions.interrupt(id)
  expect(await client.sessions.waitTurn(id, 1)).toMatchObject({ reason: 'cancelled' })
  await expect.poll(() => endedTurns(client, id)).toBe(2)
  const { number, text } = await client.sessions.promptAndWait(id, { prompt: 'recall' })
  expect(number).toBe(3)
  expect(text).not.toContain('never')
  const ends = ofType(await whole(client, id), 'turn-end')
  expect(ends.map(({ turn, reason }) => [turn, reason])).toEqual([
    [1, 'cancelled'],
    [2, 'cancelled'],
    [3, 'end_turn'],
  ])
})

test('16.3 an agent that does not stop after an interrupt is ended when its grace is over, by the next gateway', async () => {
  const { home, mark, first, next } = await startKeeping('kept-grace', {
    config: { sessions: { interruptGraceMs: 5_000 } },
  })
  const { id } = await first.client.sessions.start({ adapter: 'demo', cwd: home })
  await first.client.sessions.prompt(id, { prompt: 'stream 1; hang!' })
  await expect.poll(async () => textIn(await allEvents(first.client, id))).toContain('chunk 1')
  const interrupted = interruptAbandoned(first, id)
  await first.client.sessions.get(id)
  await first.crash()
  await interrupted

  const { client } = await next()
  await client.sessions.interrupt(id)
  await expect.poll(async () => (await client.sessions.get(id)).status).toBe('killed')
  expect(await client.sessions.get(id)).toMatchObject({ stopReason: 'timeout' })
  expect(agentsIn(mark.living(), id)).toEqual([])
})

test('16.3 a prompt that interrupts the running turn is carried out by the next gateway', async () => {
  const { home, first, next } = await startKeeping('kept-steer')
  const { id } = await first.client.sessions.start({ adapter: 'demo', cwd: home })
  await first.client.sessions.prompt(id, { prompt: 'stream 100000 20' })
  await expect.poll(async () => textIn(await allEvents(first.client, id))).toContain('chunk 2')
  await first.client.sessions.prompt(id, { prompt: 'rather this', whenBusy: 'interrupt' })
  await first.crash()

  const { client } = await next()
  expect(await client.sessions.waitTurn(id, 2)).toMatchObject({ reason: 'end_turn', text: 'echo: rather this' })
  expect(await client.sessions.turn(id, 1)).toMatchObject({ reason: 'cancelled' })
  await whole(client, id)
})

test('16.3 a model, a mode and a permission mode that were set just before are those of the session', async () => {
  const { home, first, next } = await startKeeping('kept-config')
  const { id } = await first.client.sessions.start({ adapter: 'demo', cwd: home })
  await first.client.sessions.configure(id, { model: 'demo-2' })
  await first.client.sessions.prompt(id, { prompt: 'ask later.txt' })
  await pendingPermission(first.client, id)
  await first.client.sessions.configure(id, { mode: 'plan', permissionMode: 'approve-all' })
  await first.crash()

  const { client } = await next()
  await client.sessions.waitTurn(id, 1)
  expect(await client.sessions.get(id)).toMatchObject({
    config: { modelId: 'demo-2', modeId: 'plan' },
    permissionMode: 'approve-all',
  })
  const { text } = await client.sessions.promptAndWait(id, { prompt: 'usage' })
  expect(text).toContain('demo-2 has used')
  await whole(client, id)
})

test('16.3 rules and remembered answers hold, also for a request that was asked while no gateway ran', async () => {
  const { home, first, next } = await startKeeping('kept-rules')
  const { client: before } = first
  const { id } = await before.sessions.start({ adapter: 'demo', cwd: home })
  await before.permissions.add({ sessionId: id }, { decision: 'deny', path: 'secret/**' })
  await before.sessions.prompt(id, { prompt: 'ask one.txt same' })
  const asked = await pendingPermission(before, id)
  await before.sessions.answer(id, asked.requestId, { optionId: allowOnce(asked), remember: 'session' })
  await before.sessions.waitTurn(id, 1)
  await before.sessions.prompt(id, { prompt: 'stream 60 50; ask one.txt same; ask secret/two.txt; write three.txt' })
  await first.crash()

  const { client } = await next()
  expect(await client.sessions.waitTurn(id, 2)).toMatchObject({ reason: 'end_turn' })
  const text = textIn(await whole(client, id))
  expect(text).toContain('I was allowed to write one.txt.')
  expect(text).toContain('I was not allowed to write secret/two.txt.')
  expect(text).toContain('I wrote three.txt.')
  expect(await client.sessions.requests(id).then((all) => all.filter(({ state }) => state === 'pending'))).toEqual([])
})

/** Sends an interrupt whose answer does not come. */
const interruptAbandoned = ({ url, token }: Daemon, id: string): Promise<unknown> =>
  fetch(`${url}/sessions/${id}/interrupt`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{}',
  }).catch(() => undefined)

const IMAGE = {
  type: 'image',
  mimeType: 'image/png',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
} as const

async function pendingQuestion(client: Client, id: string): Promise<SessionRequest> {
  const pending = async () => (await client.sessions.requests(id)).find(({ state }) => state === 'pending')
  await expect.poll(async () => (await pending())?.request.kind).toBe('question')
  const request = await pending()
  if (request === undefined) throw new Error('no question is pending')
  return request
}

/** Each event is there once, and nothing had to be repaired. */
async function whole(client: Client, id: string): ReturnType<typeof allEvents> {
  const events = await allEvents(client, id)
  expect(events.map(({ seq }) => seq)).toEqual(numbersOf(events))
  expect(ofType(events, 'repair')).toEqual([])
  return events
}
