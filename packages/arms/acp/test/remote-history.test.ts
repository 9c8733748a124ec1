import { expect, test } from 'vitest'
import { open, textOf } from './connecting-remote.ts'
import { chunk } from './fixtures/remote-agent.ts'

const user = (text: string) => chunk('user_message_chunk', text)
const said = (text: string) => chunk('agent_message_chunk', text)
const failed = { type: 'error', data: { kind: 'transport_failure' } }

test('an agent that numbers nothing: what its history adds to the turn is shown once, and the turn ends as failed', async () => {
  const { say, agent, sink } = await open()
  await say('echo before')
  const signals = await say('drop-tool')
  expect(textOf(signals)).toBe('one two')
  expect(signals.filter(({ type }) => type === 'tool-call')).toHaveLength(1)
  expect(signals.filter(({ type }) => type === 'tool-result')).toMatchObject([{ status: 'completed' }])
  expect(signals).toContainEqual(expect.objectContaining(failed))
  expect(signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'error' })
  expect(sink.ofType('error')[0]?.message).toMatch(/lost in the middle of the turn .*It is back, but/)
  await expect.poll(() => agent.sent('session/cancel').length).toBe(1)
  expect(textOf(await say('echo next'))).toBe('echo next')
})

for (const { what, history } of [
  { what: 'of another conversation', history: [user('other'), said('one two three')] },
  { what: 'whose text differs', history: [user('drop-ended'), said('One more')] },
  { what: 'that is shorter than what was received', history: [user('drop-ended'), said('on')] },
  { what: 'that begins the same prompt again', history: [user('drop-ended'), said('one two'), user('drop-ended')] },
  { what: 'of nothing', history: [] },
]) {
  test(`a history ${what} adds nothing to the turn`, async () => {
    const { say, agent } = await open()
    agent.history = history
    const signals = await say('drop-ended')
    expect(textOf(signals)).toBe('one ')
    expect(signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'error' })
  })
}

test('a history in other pieces than it was received in is the same history', async () => {
  const { say, agent } = await open()
  agent.history = [user('drop-'), user('ended'), said('o'), said('ne t'), said('wo')]
  expect(textOf(await say('drop-ended'))).toBe('one two')
})

for (const { numbered, why } of [
  { numbered: true, why: 'has not received the prompt' },
  { numbered: false, why: 'does not say what became of the turn' },
]) {
  test(`a prompt that did not arrive ends its turn: the agent ${why}`, async () => {
    const { say, agent, sink } = await open({ numbered })
    await say('echo same')
    agent.dropsPrompts = true
    const signals = await say('echo same')
    // Not that of the earlier turn with the same prompt.
    expect(textOf(signals)).toBe('')
    expect(signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'error' })
    expect(sink.ofType('error')[0]?.message).toContain(why)
    expect(textOf(await say('echo same'))).toBe('echo same')
  })
}

test('a turn whose end is not known is not mistaken for the one that runs now', async () => {
  const { say, sink } = await open({ numbered: true })
  const signals = await say('drop-other')
  expect(signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'error' })
  expect(sink.ofType('error')[0]?.message).toContain('how is not known')
})

test('an agent that only resumes: the turn ends as failed, the next one goes on', async () => {
  const { say, agent } = await open({ load: false, resume: true })
  expect((await say('drop-ended')).at(-1)).toMatchObject({ reason: 'error' })
  expect(agent.sent('session/resume')).toHaveLength(1)
  expect(textOf(await say('echo next'))).toBe('echo next')
})

test('an agent that can neither load nor resume has ended with its connection', async () => {
  const { say, connection } = await open({ load: false })
  expect((await say('drop-ended')).at(-1)).toMatchObject({ type: 'turn-end', reason: 'error' })
  expect(await connection.ended).toMatchObject({ cause: 'transport', duringTurn: true })
  expect((await say('echo x')).at(-1)).toMatchObject({ type: 'turn-end', reason: 'error' })
})

test('updates that come twice are shown once', async () => {
  const { say, agent } = await open({ numbered: true })
  agent.doubles = true
  expect(textOf(await say('drop-running'))).toBe('one two three')
})

test('a load that is cut off is tried again, and what it has brought is not brought again', async () => {
  for (const numbered of [true, false]) {
    const { say, agent } = await open({ numbered })
    agent.cutLoads = 2
    const signals = await say('drop-ended')
    expect(textOf(signals)).toBe('one two')
    expect(agent.sent('session/load')).toHaveLength(3)
    expect(signals.filter(({ type }) => type === 'turn-end')).toHaveLength(1)
  }
})

test('between turns a lost connection costs nothing, and the next prompt waits for it', async () => {
  for (const numbered of [true, false]) {
    const { say, agent, sink } = await open({ numbered })
    await say('echo one')
    await agent.drop()
    await sink.until(() => sink.ofType('notice').some(({ severity }) => severity === 'warning'))
    expect(textOf(await say('echo two'))).toBe('echo two')
    expect(sink.text).toBe('echo oneecho two')
    expect(sink.ofType('error')).toEqual([])
  }
})
