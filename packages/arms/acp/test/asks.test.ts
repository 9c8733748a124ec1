import type { AgentAnswer } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { open, recorder } from './connecting.ts'
import type { Recorder } from './connecting.ts'

async function asked(word: string, answer?: AgentAnswer): Promise<{ sink: Recorder; answers: unknown }> {
  const sink = recorder(answer)
  const { say } = await open('asks', { sink })
  await say(word)
  return { sink, answers: JSON.parse(sink.text()) }
}

const selected = (optionId: string): object => ({ outcome: { outcome: 'selected', optionId } })
const NOT_ASKED = { _meta: { agentproto: { reason: 'not asked' } } }
const CANCELLED = { outcome: { outcome: 'cancelled' } }

test('a permission request has its tool call, which is emitted first; the choice reaches the agent', async () => {
  const { sink, answers } = await asked('permission', { outcome: 'selected', optionId: 'yes' })
  const toolCall = { type: 'tool-call', toolCallId: 't1', title: 'rm -rf', kind: 'execute', input: { command: 'rm' } }
  expect(sink.asked.map(({ request }) => request)).toEqual([
    {
      kind: 'permission',
      toolCall: { ...toolCall, status: 'pending' },
      options: [
        { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
        // Of an unknown kind: nothing chooses it by itself.
        { optionId: 'sure', name: 'Sure', kind: 'allow_always' },
        { optionId: 'no', name: 'No', kind: 'reject_once' },
      ],
    },
  ])
  expect(sink.signals[0]).toEqual({ ...toolCall, status: 'pending' })
  expect(answers).toEqual([selected('yes')])
})

test('F78 what was said of the call before is shown with its permission, and not said twice', async () => {
  const { sink } = await asked('repeat', { outcome: 'cancelled' })
  expect(sink.asked[0]?.request).toMatchObject({
    toolCall: { kind: 'execute', input: { command: 'rm' }, title: 'rm -rf' },
  })
  expect(sink.ofType('tool-call')).toHaveLength(1)
})

test.each<[string, AgentAnswer]>([
  ['cancelled', { outcome: 'cancelled' }],
  ['declined', { outcome: 'decline' }],
  ['answered with an option that was not offered', { outcome: 'selected', optionId: 'root' }],
])('a permission that is %s is cancelled', async (_, answer) => {
  expect((await asked('permission', answer)).answers).toEqual([CANCELLED])
})

test('a host that fails to ask cancels', async () => {
  const sink = recorder(() => Promise.reject(new Error('no')))
  const { say } = await open('asks', { sink })
  await say('permission')
  expect(JSON.parse(sink.text())).toEqual([CANCELLED])
})

test('a permission without options, or of an unknown session, is cancelled without a question', async () => {
  for (const word of ['no-options', 'elsewhere']) {
    const { sink, answers } = await asked(word)
    expect(answers).toEqual([{ ...CANCELLED, ...NOT_ASKED }])
    expect(sink.asked).toEqual([])
  }
})

test.each<[AgentAnswer, object]>([
  [
    { outcome: 'accept', content: { colour: 'red' } },
    { action: 'accept', content: { colour: 'red' } },
  ],
  [{ outcome: 'accept' }, { action: 'accept' }],
  [{ outcome: 'decline' }, { action: 'decline' }],
  [{ outcome: 'cancelled' }, { action: 'cancel' }],
  [
    { outcome: 'decline', reason: 'Too late.' },
    { action: 'decline', _meta: { agentproto: { reason: 'Too late.' } } },
  ],
])('a question answered with %j is sent as %j', async (answer, wire) => {
  const { sink, answers } = await asked('form', answer)
  expect(sink.asked[0]?.request).toEqual({
    kind: 'question',
    mode: 'form',
    message: 'Colour?',
    schema: { type: 'object' },
    toolCallId: 't1',
  })
  expect(answers).toEqual([wire])
})

test('a question by address carries the address; one of an unknown mode is cancelled', async () => {
  const { sink } = await asked('url', { outcome: 'accept' })
  expect(sink.asked[0]?.request).toEqual({ kind: 'question', mode: 'url', message: 'Go', url: 'https://x.example' })
  expect((await asked('telepathy')).answers).toEqual([{ action: 'cancel', ...NOT_ASKED }])
})

test('a request that the agent takes back is withdrawn from the user', async () => {
  const { sink, answers } = await asked('withdraw')
  expect(sink.asked[0]?.signal.aborted).toBe(true)
  expect(answers).toEqual([-32800])
})

test('F79 cancelling answers all that is pending, at once', async () => {
  const sink = recorder()
  const { say, session } = await open('asks', { sink })
  const turn = say('many')
  await expect.poll(() => sink.asked.length).toBe(3)
  await session.cancel()
  await turn
  expect(JSON.parse(sink.text())).toEqual([CANCELLED, CANCELLED, CANCELLED])
  expect(sink.asked.every(({ signal }) => signal.aborted)).toBe(true)
  expect(sink.signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'cancelled' })
})

test('F12 a question ends with its turn', async () => {
  const sink = recorder()
  const { say } = await open('asks', { sink })
  await say('impatient')
  expect(sink.asked[0]?.signal.aborted).toBe(true)
  expect(sink.signals.slice(-2)).toEqual([
    { type: 'tool-result', toolCallId: 't1', status: 'interrupted' },
    { type: 'turn-end', reason: 'end_turn' },
  ])
})
