import { expect, test } from 'vitest'
import { ManualClock, settled } from '../../../session-registry/test/fixtures/manual-clock.ts'
import { open, textOf } from './connecting-remote.ts'

const yes = { outcome: 'selected', optionId: 'yes' } as const

test('a permission that waits while the connection is lost is asked once, and its answer reaches the agent', async () => {
  const { session, sink, agent } = await open({ numbered: true })
  let answer = (): void => {}
  sink.onAsk = () => new Promise((resolve) => (answer = () => resolve(yes)))
  const sent = session.send([{ type: 'text', text: 'ask' }])
  await sink.until(() => sink.asked.length === 1)
  await agent.drop()
  await sink.until(() => sink.ofType('notice').length === 2)
  await expect.poll(() => agent.asked.length).toBe(2)
  answer()
  await sent
  expect(sink.text).toBe('answer yes')
  expect(sink.asked).toHaveLength(1)
  expect(sink.asked[0]?.signal.aborted).toBe(true)
})

test('an answer that was given while the connection was lost is given once it is back', async () => {
  const { session, sink, agent } = await open({ numbered: true })
  let answer = (): void => {}
  sink.onAsk = () => new Promise((resolve) => (answer = () => resolve(yes)))
  const sent = session.send([{ type: 'text', text: 'ask' }])
  await sink.until(() => sink.asked.length === 1)
  await agent.drop()
  await sink.until(() => sink.ofType('notice').length === 1)
  answer()
  await sent
  expect(sink.text).toBe('answer yes')
  expect(sink.asked).toHaveLength(1)
})

test('a permission that an agent without numbers asked is taken back with its turn', async () => {
  const { session, sink, agent } = await open()
  const sent = session.send([{ type: 'text', text: 'ask' }])
  await sink.until(() => sink.asked.length === 1)
  agent.asksAgain = false
  await agent.drop()
  await sent
  expect(sink.asked[0]?.signal.aborted).toBe(true)
  expect(sink.signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'error' })
})

test('a turn that is cancelled while the connection is lost ends at once, and in the agent once it is back', async () => {
  const { session, sink, agent, say } = await open({ numbered: true })
  const sent = session.send([{ type: 'text', text: 'hang' }])
  await sink.until(() => sink.text === 'working')
  await agent.drop()
  await sink.until(() => sink.ofType('notice').length === 1)
  await session.cancel()
  await sent
  expect(sink.signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'cancelled' })
  await expect.poll(() => agent.sent('session/cancel').length).toBe(1)
  expect(textOf(await say('echo next'))).toBe('echo next')
})

test('a turn that was being cancelled when the connection was lost is cancelled once it is back', async () => {
  const { session, sink, agent } = await open({ numbered: true })
  const sent = session.send([{ type: 'text', text: 'hang' }])
  await sink.until(() => sink.text === 'working')
  agent.ignoresCancels = 1
  await session.cancel()
  await agent.drop()
  await sent
  expect(sink.signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'cancelled' })
})

test('a permission that was answered elsewhere while the connection was lost is taken back soon', async () => {
  const clock = new ManualClock()
  const { session, sink, agent } = await open({ numbered: true, clock })
  const sent = session.send([{ type: 'text', text: 'ask' }])
  await sink.until(() => sink.asked.length === 1)
  agent.asksAgain = false
  await agent.drop()
  await sink.until(() => sink.ofType('notice').length === 1)
  await clock.advance(250)
  await sink.until(() => sink.ofType('notice').length === 2)
  await clock.advance(4_000)
  expect(sink.asked[0]?.signal.aborted).toBe(false)
  await clock.advance(1_000)
  expect(sink.asked[0]?.signal.aborted).toBe(true)
  await session.cancel()
  await sent
})

test('a second loss does not take back what is still waited for', async () => {
  const clock = new ManualClock()
  const { session, sink, agent } = await open({ numbered: true, clock })
  const sent = session.send([{ type: 'text', text: 'ask' }])
  await sink.until(() => sink.asked.length === 1)
  await agent.drop()
  await sink.until(() => sink.ofType('notice').length === 1)
  await clock.advance(250)
  await sink.until(() => sink.ofType('notice').length === 2)
  agent.refuses = 503
  await agent.drop()
  await sink.until(() => sink.ofType('notice').length === 3)
  await clock.advance(6_000)
  expect(sink.asked).toHaveLength(1)
  expect(sink.asked[0]?.signal.aborted).toBe(false)
  agent.refuses = undefined
  await session.cancel()
  await sent
})

test('an answer counts for what was shown: another question of the same name is asked', async () => {
  const { session, sink, agent } = await open({ numbered: true })
  sink.onAsk = async () => new Promise(() => {})
  const sent = session.send([{ type: 'text', text: 'ask' }])
  await sink.until(() => sink.asked.length === 1)
  sink.onAsk = async () => ({ outcome: 'selected', optionId: 'no' })
  agent.question = { ...agent.question, title: 'Remove everything' }
  await agent.drop()
  await sent
  expect(sink.asked).toHaveLength(2)
  expect(sink.text).toBe('answer no')
})

test('an answer of one turn is none of the next', async () => {
  const { session, sink, agent } = await open({ numbered: true })
  sink.onAsk = async () => yes
  await session.send([{ type: 'text', text: 'ask' }])
  sink.onAsk = async () => new Promise(() => {})
  const sent = session.send([{ type: 'text', text: 'ask' }])
  await sink.until(() => sink.asked.length === 2)
  await agent.drop()
  await sink.until(() => sink.ofType('notice').length === 2)
  await expect.poll(() => agent.asked.length).toBe(3)
  for (let round = 0; round < 20; round++) await settled()
  expect(sink.text).toBe('answer yes')
  await session.cancel()
  await sent
  expect(sink.signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'cancelled' })
})

test('an answer is not given to a request whose call has changed since it was asked', async () => {
  const { session, sink, agent } = await open({ numbered: true })
  let answer = (): void => {}
  sink.onAsk = () => new Promise((resolve) => (answer = () => resolve(yes)))
  agent.question = { ...agent.question, requestId: 'same' }
  const sent = session.send([{ type: 'text', text: 'ask' }])
  await sink.until(() => sink.asked.length === 1)
  const answerFirst = answer
  await agent.drop()
  agent.tell({ sessionUpdate: 'tool_call_update', toolCallId: 'asked', rawInput: { command: 'rm -rf /' } })
  await expect.poll(() => agent.asked.length).toBe(2)
  await sink.until(() => sink.asked.length === 2)
  expect(sink.asked[1]?.request).toMatchObject({ toolCall: { input: { command: 'rm -rf /' } } })
  answerFirst()
  await session.cancel()
  await sent
  expect(sink.text).not.toContain('answer yes')
})
