import { AgentprotoError, ERRORS, fromProblem, isAgentprotoError, toAgentprotoError } from '@agentproto/contracts'
import { expect, test } from 'vitest'

test('a message has its four parts, the given one cut short', () => {
  const error = new AgentprotoError('option_invalid', 'The option model does not take that', {
    expected: 'one of a, b',
    given: 'x'.repeat(500),
    hint: 'Leave it out',
  })
  expect(error.message).toBe(
    `The option model does not take that. Expected one of a, b. Given: ${'x'.repeat(197)}... Leave it out.`,
  )
})

test('an error survives the wire', () => {
  const error = new AgentprotoError('turn_in_progress', 'Busy', { hint: 'Wait', data: { turn: 3 } })
  const back = fromProblem(JSON.parse(JSON.stringify(error.toProblem())))
  expect([back.code, back.message, back.row.status, back.parts.data, back.parts.hint]).toEqual([
    'turn_in_progress',
    error.message,
    409,
    { turn: 3 },
    'Wait',
  ])
})

test('what is no problem document becomes an internal error, not a crash', () => {
  for (const junk of [null, 1, 'x', [], {}, { code: 'nope' }, { code: 'toString' }])
    expect(fromProblem(junk).code).toBe('internal')
})

test('data cannot overwrite the members of a problem, and no stack is in it', () => {
  const problem = new AgentprotoError('forbidden', 'No', {
    data: { code: 'x', status: 1 },
    cause: new Error('secret'),
  }).toProblem()
  expect(problem).toMatchObject({ code: 'forbidden', status: 403 })
  expect(JSON.stringify(problem)).not.toContain('secret')
})

test('errors are recognised without instanceof, and others are wrapped with their cause', () => {
  const foreign = Object.assign(new Error('x'), { [Symbol.for('agentproto.error')]: true })
  expect([isAgentprotoError(foreign), isAgentprotoError(new Error('x')), isAgentprotoError(null)]).toEqual([
    true,
    false,
    false,
  ])
  const cause = new TypeError('boom')
  expect(toAgentprotoError(cause)).toMatchObject({ code: 'internal', message: 'boom.', cause })
})

test('every code has a status, and only what can succeed unchanged is retryable', () => {
  for (const [code, { status, exit }] of Object.entries(ERRORS)) {
    expect([code, status >= 400 && status < 600, [1, 2, 3, 4, 5, 130].includes(exit)]).toEqual([code, true, true])
  }
})
