import { AgentprotoError, parseWire, promptRequestSchema } from '@agentproto/contracts'
import { expect, test } from 'vitest'

test('the example of the README', () => {
  expect(parseWire(promptRequestSchema, { prompt: 'hello' }, 'body')).toEqual({ prompt: 'hello' })
  const error = new AgentprotoError('turn_in_progress', 'Turn 3 of the session is in progress')
  expect(error.toProblem()).toMatchObject({
    code: 'turn_in_progress',
    status: 409,
    retryable: true,
    title: 'A turn is in progress',
  })
})
