import type { AgentSignal } from '@agentproto/contracts/agent'
import type { LoopLimits } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { settled } from './fixtures/manual-clock.js'
import { type Script, scripted } from './fixtures/scripted-agent.js'
import { allEvents, memoryRegistry, owner } from './fixtures/test-registry.js'

let calls = 0

/** One call with its result; each has an id and a terminal of its own. */
function call(word: string): AgentSignal[] {
  calls += 1
  const [input = '', output = 'same'] = word.split('=')
  const toolCallId = `call-${calls}`
  return [
    { type: 'tool-call', toolCallId, title: 'Run', kind: 'execute', input: { command: input } },
    { type: 'tool-call', toolCallId, content: [{ type: 'terminal', terminalId: `terminal-${calls}` }] },
    { type: 'tool-result', toolCallId, status: 'completed', output },
  ]
}

/** Makes the calls of the prompt in order, such as `a b=2 a`. */
const caller: Script = async ({ text, emit }) => {
  for (const word of text.split(' ')) await emit(...call(word))
  await emit({ type: 'turn-end', reason: 'end_turn' })
}

async function after(prompts: readonly string[], loops?: LoopLimits) {
  const { registry } = await memoryRegistry(scripted(caller))
  const { id } = await registry.spawn({ adapter: 'fake', ...(loops && { loops }) }, owner)
  for (const prompt of prompts) {
    const { turn } = await registry.prompt(id, { prompt }, owner)
    await registry.waitTurn(id, turn)
  }
  await settled()
  const events = await allEvents(registry, id)
  const warnings = events.flatMap((event) => (event.type === 'runtime-warning' ? [event.message] : []))
  return { session: await registry.get(id), warnings }
}

test('13.6 the same call with the same result five times in a turn is one warning', async () => {
  const { warnings, session } = await after(['a a a a a a a a a a a a'])
  expect(warnings).toEqual(['The agent repeated the call Run with the same result 5 times'])
  expect(session.status).toBe('running')
})

test('13.6 two calls in alternation are a loop too', async () => {
  const { warnings } = await after(['c a b a b a b'], { warnAfter: 3 })
  expect(warnings).toEqual(['The agent repeated the call Run with the same result 3 times'])
})

test.each([
  ['other results', 'a=1 a=2 a=3 a=4 a=5 a=6'],
  ['a third call', 'a b c a b c a b c a b c'],
  ['too few', 'a a b a a b b'],
])('13.6 no loop: %s', async (_, prompt) => {
  const { warnings } = await after([prompt], { warnAfter: 4 })
  expect(warnings).toEqual([])
})

test('13.6 calls of two turns are not one loop', async () => {
  const { warnings } = await after(['a a', 'a a'], { warnAfter: 3 })
  expect(warnings).toEqual([])
})

test('13.6 where it is configured, a loop ends the session as loop_detected', async () => {
  const { warnings, session } = await after(['a a a a a a'], { stopAfter: 3, warnAfter: 2 })
  expect(session).toMatchObject({ status: 'killed', stopReason: 'loop_detected' })
  expect(warnings).toEqual([
    'The agent repeated the call Run with the same result 2 times',
    'The agent repeated the call Run with the same result: the session ends after 3 times',
  ])
})

test('13.6 with 0 nobody is warned', async () => {
  const { warnings } = await after(['a a a a a a a'], { warnAfter: 0 })
  expect(warnings).toEqual([])
})
