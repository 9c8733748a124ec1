import { AgentprotoError } from '@agentproto/contracts'
import { expect, test, vi } from 'vitest'
import { connectedClient } from './acp-client.ts'
import type { TestClient } from './acp-client.ts'
import { FakeSessions } from './fake-sessions.ts'

// Several clients have one session open: what each may do to the turns of the others, and what it sees of them.

const until = (condition: () => unknown): Promise<void> =>
  vi.waitFor(() => expect(condition()).toBeTruthy(), { timeout: 20_000 })

const prompt = (client: TestClient, text: string): Promise<{ stopReason: string }> =>
  client.agent.request('session/prompt', { sessionId: 's1', prompt: [{ type: 'text', text }] })

const cancel = (client: TestClient): Promise<void> => client.agent.notify('session/cancel', { sessionId: 's1' })

const shown = ({ updates }: TestClient): unknown[] =>
  updates.map(({ update }) =>
    'content' in update && 'text' in (update.content as object) ? update.content : undefined,
  )

async function two(): Promise<{ one: TestClient; other: TestClient; sessions: FakeSessions }> {
  const sessions = new FakeSessions()
  sessions.add('s1')
  const [one, other] = [await connectedClient({ sessions }), await connectedClient({ sessions })]
  for (const { agent } of [one, other])
    await agent.request('session/resume', { sessionId: 's1', cwd: '/work', mcpServers: [] })
  return { one, other, sessions }
}

test('a prompt while another client’s turn runs waits for its own', async () => {
  const { one, other, sessions } = await two()
  const first = prompt(one, 'first')
  await until(() => sessions.the('s1').busy)
  const second = prompt(other, 'second')
  await until(() => sessions.calls.length === 2)
  sessions.the('s1').says({ type: 'text-delta', text: 'for the first' })
  sessions.the('s1').ends('end_turn')
  expect(await first).toEqual({ stopReason: 'end_turn' })
  sessions.the('s1').says({ type: 'text-delta', text: 'for the second' })
  sessions.the('s1').ends('max_tokens')
  expect(await second).toEqual({ stopReason: 'max_tokens' })
  await until(() => one.updates.length === 3)
  expect(shown(one)).toMatchObject([{ text: 'for the first' }, { text: 'second' }, { text: 'for the second' }])
  expect(shown(other)).toMatchObject([{ text: 'first' }, { text: 'for the first' }, { text: 'for the second' }])
})

test('more prompts than may wait are refused', async () => {
  const { one, sessions } = await two()
  sessions.refusal = new AgentprotoError('queue_full', '10 prompts wait already')
  await expect(prompt(one, 'eleventh')).rejects.toMatchObject({ data: { code: 'queue_full', retryable: true } })
})

test('a cancel of a queued prompt is answered at once, does not touch the running turn, and no client sees the prompt', async () => {
  const { one, other, sessions } = await two()
  const first = prompt(one, 'first')
  await until(() => sessions.the('s1').busy)
  const second = prompt(other, 'second')
  await until(() => sessions.calls.length === 2)
  await cancel(other)
  expect(await second).toEqual({ stopReason: 'cancelled' })
  expect(sessions.the('s1')).toMatchObject({ busy: true, turn: 1 })
  sessions.the('s1').ends('end_turn')
  await first
  const third = prompt(one, 'third')
  await until(() => sessions.the('s1').busy)
  sessions.the('s1').ends('end_turn')
  expect(await third).toEqual({ stopReason: 'end_turn' })
  await until(() => other.updates.length === 2)
  expect([shown(one), shown(other)]).toMatchObject([[], [{ text: 'first' }, { text: 'third' }]])
})

test('a cancel ends the client’s own turn, and the prompt of another that waits behind it goes on', async () => {
  const { one, other, sessions } = await two()
  const first = prompt(one, 'first')
  await until(() => sessions.the('s1').busy)
  const second = prompt(other, 'second')
  await until(() => sessions.calls.length === 2)
  await cancel(one)
  expect(await first).toEqual({ stopReason: 'cancelled' })
  await until(() => sessions.the('s1').turn === 2)
  sessions.the('s1').ends('end_turn')
  expect(await second).toEqual({ stopReason: 'end_turn' })
})

test('who has no turn of its own stops the one that runs', async () => {
  const { one, other, sessions } = await two()
  const first = prompt(one, 'first')
  await until(() => sessions.the('s1').busy)
  await cancel(other)
  expect(await first).toEqual({ stopReason: 'cancelled' })
  expect(sessions.calls.at(-1)).toEqual(['interrupt', 's1'])
})

test('a cancel does not overtake the prompt that it means, nor the next prompt the cancel', async () => {
  const { one, sessions } = await two()
  let admit = (): void => undefined
  sessions.beforeAnswer = () => new Promise((resolve) => (admit = resolve))
  const first = prompt(one, 'first')
  await until(() => sessions.the('s1').busy)
  await cancel(one)
  const second = prompt(one, 'second')
  await new Promise((resolve) => setImmediate(resolve))
  expect(sessions.calls.map(([name]) => name)).toEqual(['prompt'])
  sessions.beforeAnswer = undefined
  admit()
  expect(await first).toEqual({ stopReason: 'cancelled' })
  await until(() => sessions.the('s1').busy)
  expect(sessions.calls.map(([name]) => name)).toEqual(['prompt', 'interrupt', 'prompt'])
  expect(sessions.calls[1]).toEqual(['interrupt', 's1', 1])
  sessions.the('s1').ends('end_turn')
  expect(await second).toEqual({ stopReason: 'end_turn' })
})

test('close ends the client’s own turns and no others', async () => {
  const { one, other, sessions } = await two()
  const first = prompt(one, 'first')
  await until(() => sessions.the('s1').busy)
  const second = prompt(other, 'second').catch((error: unknown) => error)
  await until(() => sessions.calls.length === 2)
  await other.agent.request('session/close', { sessionId: 's1' })
  expect(await second).toMatchObject({ code: -32800 })
  expect(sessions.the('s1')).toMatchObject({ busy: true, turn: 1 })
  sessions.the('s1').ends('end_turn')
  expect(await first).toEqual({ stopReason: 'end_turn' })
})

test('a session that ended and that somebody else resumes is followed again, from where it ended', async () => {
  const { one, sessions } = await two()
  const session = sessions.the('s1')
  session.begins([{ type: 'text', text: 'before' }])
  session.ends('end_turn')
  session.stops()
  await until(() => session.followers === 0 && sessions.watchers === 2)
  session.resumes()
  session.begins([{ type: 'text', text: 'after' }])
  sessions.publish('s1')
  sessions.publish('s1')
  await until(() => one.updates.length === 2)
  expect(shown(one)).toMatchObject([{ text: 'before' }, { text: 'after' }])
  await until(() => sessions.watchers === 0)
  session.ends('end_turn')
  session.stops()
  await until(() => sessions.watchers === 2)
})

test('one that had ended when it was opened is followed as well, though the gateway was away meanwhile', async () => {
  const sessions = new FakeSessions()
  sessions.add('s1').stops()
  sessions.away = new AgentprotoError('daemon_not_running', 'No gateway is running')
  const client = await connectedClient({ sessions })
  await client.agent.request('session/resume', { sessionId: 's1', cwd: '/work', mcpServers: [] })
  sessions.the('s1').resumes()
  sessions.the('s1').begins([{ type: 'text', text: 'after' }])
  sessions.away = undefined
  await until(() => client.updates.length === 1)
  expect(client.problems).toEqual([])
})

test('a log that ends before its record says is read once more, and not for ever', async () => {
  const { one, sessions } = await two()
  sessions.the('s1').missing = 3
  sessions.the('s1').stops()
  // Once each for its end, and once each for what the record says is missing.
  await until(() => sessions.follows === 4 && sessions.the('s1').followers === 0 && sessions.watchers === 2)
  for (let i = 0; i < 5; i += 1) {
    sessions.publish('s1')
    await new Promise((resolve) => setImmediate(resolve))
  }
  await until(() => sessions.watchers === 2)
  expect(sessions.follows).toBe(4)
  expect(one.problems).toEqual([])
})

test('a long outage is reported once, and so is its end', async () => {
  const sessions = new FakeSessions()
  sessions.add('s1')
  const client = await connectedClient({ sessions, capabilities: { session: { notices: {} } } })
  await client.agent.request('session/resume', { sessionId: 's1', cwd: '/work', mcpServers: [] })
  const { onState } = await vi.waitFor(() => {
    expect(sessions.the('s1').onState).toBeDefined()
    return sessions.the('s1')
  })
  for (const awayMs of [0, 300, 700, 2_000]) onState?.({ state: 'reconnecting', awayMs })
  onState?.({ state: 'connected' })
  onState?.({ state: 'connected' })
  await until(() => client.updates.length === 2)
  expect(client.updates.map(({ update }) => update)).toMatchObject([
    { sessionUpdate: 'notice', severity: 'warning', title: expect.stringContaining('not reachable') },
    { sessionUpdate: 'notice', severity: 'info', title: 'The gateway is reachable again' },
  ])
})

test('a client that goes away is not kept watching', async () => {
  const sessions = new FakeSessions()
  sessions.add('s1').stops()
  const client = await connectedClient({ sessions })
  await client.agent.request('session/resume', { sessionId: 's1', cwd: '/work', mcpServers: [] })
  await until(() => sessions.watchers === 1)
  client.leave()
  await client.server.closed
  await until(() => sessions.watchers === 0)
  expect(client.problems).toEqual([])
})

test.each([true, false])(
  'a client whose answer comes after that of another is told so (the log is sooner: %s)',
  async (isSooner) => {
    const { one, other, sessions } = await two()
    const turn = prompt(one, 'first')
    await until(() => sessions.the('s1').busy)
    sessions.the('s1').asks('r1', {
      kind: 'permission',
      toolCall: { type: 'tool-call', toolCallId: 'c1' },
      options: [],
    } as never)
    await until(() => one.asked.length + other.asked.length === 2)
    vi.spyOn(sessions, 'answer').mockImplementationOnce(async () => {
      if (isSooner) sessions.the('s1').resolves('r1')
      await until(() => one.asked[0]?.signal.aborted === isSooner)
      throw new AgentprotoError('request_resolved', 'The request was answered by somebody')
    })
    other.asked[0]?.answer({ outcome: { outcome: 'selected', optionId: 'no' } })
    await until(() => other.updates.length > 1)
    expect(shown(other).at(-1)).toEqual({
      type: 'text',
      text: '[warning] Your answer does not count: The request was answered by somebody.\n',
    })
    sessions.the('s1').ends('end_turn')
    await turn
    expect(shown(one)).toEqual([])
  },
)
