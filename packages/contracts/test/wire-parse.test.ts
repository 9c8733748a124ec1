import { expect, test } from 'vitest'
import type { AgentprotoError } from '@agentproto/contracts'
import { answerRequestSchema, parseWire, promptRequestSchema, spawnAgentSchema } from '@agentproto/contracts/wire'
import type { z } from 'zod'

function refusal(schema: z.ZodType, value: unknown): AgentprotoError {
  try {
    parseWire(schema, value, 'body')
  } catch (thrown) {
    return thrown as AgentprotoError
  }
  throw new Error('it was taken')
}

const deep = (levels: number): unknown => (levels === 0 ? {} : { a: deep(levels - 1) })

test.each([
  [spawnAgentSchema, {}, 'adapter', 'a string', 'nothing'],
  [spawnAgentSchema, 7, '', 'an object', '7'],
  [spawnAgentSchema, { adapter: 'x', label: 'y'.repeat(201) }, 'label', 'at most 200 characters', undefined],
  [
    spawnAgentSchema,
    { adapter: 'x', options: { a: {} } },
    'options.a',
    'a string, or a number, or true or false',
    'an object',
  ],
  [spawnAgentSchema, { adapter: 'x', nope: 1 }, 'nope', 'no "nope"', 'an object'],
  [promptRequestSchema, { prompt: 5 }, 'prompt', 'a string, or an array', '5'],
  [promptRequestSchema, { prompt: '' }, 'prompt', 'at least 1 character', '""'],
  [promptRequestSchema, { prompt: [{ type: 'text' }] }, 'prompt.0.text', 'a string', 'nothing'],
  [
    promptRequestSchema,
    { prompt: [{ type: 'x' }] },
    'prompt.0.type',
    'one of text, image, audio, resource_link, resource',
    '"x"',
  ],
  [answerRequestSchema, { action: 'x' }, 'action', 'one of accept, decline, cancel', '"x"'],
  [answerRequestSchema, {}, '', 'a string in "optionId", or one of accept, decline, cancel in "action"', 'an object'],
  [answerRequestSchema, { optionId: 'no', reason: 'x'.repeat(2_001) }, 'reason', 'at most 2000 characters', undefined],
  [answerRequestSchema, { action: 'accept', content: deep(65) }, 'content', 'at most 64 levels', 'an object'],
] as const)(
  '%# the field that is wrong is named with what was expected and given',
  (schema, value, field, expected, given) => {
    const { code, parts } = refusal(schema, value)
    expect([code, parts.data?.['field'], parts.expected]).toEqual(['invalid_request', field, expected])
    expect(given === undefined || parts.given === given).toBe(true)
  },
)

test('what is right is returned', () => {
  const request = { action: 'accept', content: deep(60) }
  expect(parseWire(answerRequestSchema, request, 'body')).toEqual(request)
})
