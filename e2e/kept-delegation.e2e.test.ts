import { readFileSync } from 'node:fs'
import { type Client, createClient } from '@agentproto/client'
import { expect, test } from 'vitest'
import { agentsIn, allEvents, numbersOf, ofType, startKeeping, textIn } from './support/kept-agents.js'
import type { Mark } from './support/marked-processes.js'
import { allowOnce, pendingPermission } from './support/pending-request.js'

// Agents that started agents, when their gateway is killed.

test('16.3 children keep their parent, and both keep their tokens, with which they may do what they might before', async () => {
  const { home, mark, first, next } = await startKeeping('kept-children')
  const parent = await first.client.sessions.start({ adapter: 'demo', cwd: home, delegation: {} })
  await first.client.sessions.promptAndWait(parent.id, { prompt: 'call start_agent_session {"adapter":"demo"}' })
  const child = await childOf(first.client, parent.id)
  await first.client.sessions.prompt(child, { prompt: 'stream 5; ask child.txt' })
  const asked = await pendingPermission(first.client, child)
  const stranger = await first.client.sessions.start({ adapter: 'demo', cwd: home })
  await first.crash()

  const { client, url } = await next()
  expect(await client.sessions.get(child)).toMatchObject({ parentSessionId: parent.id, status: 'running', kept: true })
  const as = (id: string): Client => createClient({ url, token: tokenOf(mark, id) })
  expect(await idsOf(as(child))).toEqual([child])
  expect(await idsOf(as(parent.id))).toEqual([child, parent.id].toSorted())
  await expect(as(parent.id).sessions.get(stranger.id)).rejects.toMatchObject({ code: 'session_not_found' })
  // An agent may not allow what another one asks for, as before.
  const allowed = { optionId: allowOnce(asked) }
  await expect(as(parent.id).sessions.answer(child, asked.requestId, allowed)).rejects.toThrow()
  await client.sessions.answer(child, asked.requestId, allowed)
  // The tools that were mounted at its start.
  const wait = JSON.stringify({ sessionId: child, turn: 1 })
  const { text } = await client.sessions.promptAndWait(parent.id, { prompt: `call wait_agent_turn ${wait}` })
  expect(text).toContain('I was allowed to write child.txt.')
  const more = JSON.stringify({ sessionId: child, prompt: 'hello' })
  await client.sessions.promptAndWait(parent.id, { prompt: `call prompt_agent_session ${more}` })
  expect(await client.sessions.waitTurn(child, 2)).toMatchObject({ text: 'echo: hello' })

  const before = as(child)
  await client.sessions.kill(parent.id)
  expect(await client.sessions.get(child)).toMatchObject({ status: 'killed' })
  expect(agentsIn(mark.living(), child)).toEqual([])
  await expect(before.sessions.list()).rejects.toMatchObject({ code: 'unauthorized' })
})

test('16.3 a parent that waits for its child when the gateway is killed gets what it says', async () => {
  const { home, first, next } = await startKeeping('kept-wait')
  const { id } = await first.client.sessions.start({ adapter: 'demo', cwd: home, delegation: {} })
  await first.client.sessions.prompt(id, { prompt: 'delegate stream 300 20 | recall' })
  const child = await childOf(first.client, id)
  await expect.poll(async () => textIn(await allEvents(first.client, child))).toContain('chunk 2')
  await first.crash()

  const { client } = await next()
  const { text } = await client.sessions.waitTurn(id, 1)
  expect(text).toContain(`${child} said: chunk 1\n`)
  expect(text).toContain('chunk 300\n')
  expect(text).toContain(`${child} said: 1: stream 300 20`)
  expect(await client.sessions.get(child)).toMatchObject({ status: 'killed', stopReason: 'user_canceled' })
  for (const each of [id, child]) {
    const events = await allEvents(client, each)
    expect(events.map(({ seq }) => seq)).toEqual(numbersOf(events))
    expect(ofType(events, 'repair')).toEqual([])
  }
})

test('16.3 children keep their limits: their number, their time, and the budget that they share', async () => {
  const { home, first, next } = await startKeeping('kept-limits')
  const start = {
    adapter: 'demo',
    cwd: home,
    budget: { turns: 4 },
    delegation: { maxChildren: 1, ttlSeconds: 300 },
  } as const
  const { id } = await first.client.sessions.start(start)
  const spawn = `call start_agent_session ${JSON.stringify({ adapter: 'demo', prompt: 'one' })}`
  await first.client.sessions.promptAndWait(id, { prompt: spawn })
  const child = await childOf(first.client, id)
  await first.client.sessions.waitTurn(child, 1)
  const { expiresAt } = await first.client.sessions.get(child)
  await first.crash()

  const { client } = await next()
  expect((await client.sessions.get(child)).expiresAt).toBe(expiresAt)
  const { text } = await client.sessions.promptAndWait(id, { prompt: spawn })
  expect(text).toContain('child_quota_exceeded')
  await client.sessions.promptAndWait(child, { prompt: 'two' })
  // One and two of the child, two of the parent.
  await expect(client.sessions.prompt(child, { prompt: 'three' })).rejects.toMatchObject({ code: 'budget_exceeded' })
})

/** The only child of a session. */
async function childOf(client: Client, parent: string): Promise<string> {
  const children = async () =>
    (await client.sessions.list()).sessions.filter(({ parentSessionId }) => parentSessionId === parent)
  await expect.poll(async () => (await children()).length).toBe(1)
  const [child] = await children()
  return child?.id ?? ''
}

const idsOf = async (client: Client): Promise<readonly string[]> =>
  (await client.sessions.list()).sessions.map(({ id }) => id).toSorted()

/** The token in the environment of an agent. */
function tokenOf(mark: Mark, id: string): string {
  const [agent = ''] = agentsIn(mark.living(), id)
  const entries = readFileSync(`/proc/${agent.split(' ', 1)[0]}/environ`, 'utf8').split('\0')
  return entries.find((entry) => entry.startsWith('AGENTPROTO_TOKEN='))?.split('=')[1] ?? ''
}
