import { expect, test } from 'vitest'
import { open, textOf } from './connecting-remote.ts'

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
const message = (method: string, params: string, id?: number): string =>
  `{"jsonrpc":"2.0",${id === undefined ? '' : `"id":${id},`}"method":"${method}","params":${params}}`

test('a message that is nested too deep is dropped, and what comes after it is read', async () => {
  const { session, sink, agent } = await open()
  const sent = session.send([{ type: 'text', text: 'hang' }])
  await sink.until(() => sink.text === 'working')
  const content = `[{"type":"odd","deep":${nested(200_000)}}]`
  const call = `{"toolCallId":"t","title":"t","content":${content}}`
  agent.socket?.send(
    message('session/update', `{"sessionId":"s1","update":{"sessionUpdate":"tool_call",${call.slice(1)}}`),
  )
  agent.socket?.send(message('session/request_permission', `{"sessionId":"s1","toolCall":${call},"options":[]}`, 7))
  await sink.until(() => sink.ofType('notice').length === 2)
  await session.cancel()
  await sent
  expect(sink.ofType('notice').map(({ text }) => text)).toEqual(
    Array(2).fill('A message of the agent was dropped: Maximum call stack size exceeded'),
  )
  expect(sink.signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'cancelled' })
})

test('a connection that is lost just after a session was loaded again comes back once more', async () => {
  const { session, sink, agent, say } = await open()
  const sent = session.send([{ type: 'text', text: 'hang' }])
  await sink.until(() => sink.text === 'working')
  const loaded = agent.loaded()
  await agent.drop()
  await loaded
  await agent.drop()
  await sent
  await sink.until(() => sink.ofType('notice').some(({ text }) => text.includes('is back')))
  expect(textOf(await say('echo next'))).toBe('echo next')
  expect(agent.upgrades).toHaveLength(3)
})

test('pings whose answers an agent does not read are not all answered', async () => {
  const { agent, say } = await open()
  const { socket } = agent
  let pongs = 0
  socket?.on('pong', () => pongs++)
  agent.stopReading()
  for (let at = 0; at < 100; at++) {
    for (let each = 1; each < 1_000; each++) socket?.ping(Buffer.alloc(125))
    await new Promise((resolve) => socket?.ping(Buffer.alloc(125), false, resolve))
  }
  agent.readAgain()
  expect(textOf(await say('echo still here'))).toBe('echo still here')
  expect(pongs).toBeGreaterThan(0)
  expect(pongs).toBeLessThan(100_000)
  expect(agent.upgrades).toHaveLength(1)
})

test('an agent that sends and does not read is left before what waits for it fills the memory', async () => {
  const { session, sink, agent } = await open()
  agent.stopReading()
  const sent = session.send([{ type: 'text', text: `hang ${'x'.repeat(72 << 20)}` }])
  for (let at = 0; at < 10; at++) {
    agent.tell({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: '.' } })
    await new Promise((resolve) => setImmediate(resolve))
  }
  await sink.until(() => sink.ofType('notice').length > 0)
  expect(sink.ofType('notice')[0]?.text).toContain('it does not read what is sent to it')
  await session.cancel()
  await sent
})
