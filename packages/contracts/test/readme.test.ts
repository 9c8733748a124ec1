import { AgentprotoError } from '@agentproto/contracts'
import { addRuleSchema, parseWire } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'

test('the example of the README', () => {
  expect(parseWire(addRuleSchema, { decision: 'deny', toolKind: 'edit' }, 'body')).toEqual({
    decision: 'deny',
    toolKind: 'edit',
  })
  const error = new AgentprotoError('turn_in_progress', 'Turn 3 of the session is in progress')
  expect(error.toProblem()).toMatchObject({
    code: 'turn_in_progress',
    status: 409,
    retryable: true,
    title: 'A turn is in progress',
  })
})
