import { expect, test } from 'vitest'
import { turnFailure } from '../src/turn/turn-exit.js'
import type { TurnOutcome } from '../src/turn/turn-output.js'

const ended = (more: Pick<TurnOutcome, 'reason'> & Partial<TurnOutcome>) =>
  turnFailure(
    {
      sessionId: 's_1',
      adapter: 'demo',
      cwd: '/',
      turn: 1,
      empty: false,
      text: '',
      refused: 0,
      durationMs: 1,
      ...more,
    },
    'agentproto sessions events try',
  )?.code

test('14.4.3 a refused permission is the failure, also of an agent that ends its turn after a refusal', () => {
  expect(ended({ reason: 'end_turn', refused: 1 })).toBe('permission_denied')
  expect(ended({ reason: 'cancelled', refused: 1 })).toBe('permission_denied')
  expect(ended({ reason: 'cancelled' })).toBe('cancelled')
  expect(ended({ reason: 'end_turn' })).toBeUndefined()
})

test('14.3.3 a refused permission of a session names the command that allows more, and of run its option', () => {
  const outcome: TurnOutcome = {
    sessionId: 's_1',
    adapter: 'demo',
    cwd: '/',
    turn: 1,
    empty: false,
    text: '',
    refused: 1,
    durationMs: 1,
    reason: 'end_turn',
  }
  const allow = 'agentproto sessions config s_1 --permissions approve-reads'
  expect(turnFailure(outcome, 'agentproto sessions events s_1', allow)?.message).toContain(`with: ${allow}.`)
  expect(turnFailure(outcome, 'agentproto run demo')?.message).toContain('--permissions approve-reads')
})
