import { Conversation } from '@agentproto/arm-kit'
import type { AgentSignal } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'

test('the example of the README', async () => {
  const events: AgentSignal[] = []
  const talk = new Conversation({
    emit: (batch) => void events.push(...batch),
    ask: async () => ({ outcome: 'cancelled' }),
  })
  const turn = talk.begin()
  talk.addText('text-delta', 'hello')
  talk.addToolUpdate({ toolCallId: 't1', title: 'Read', status: 'in_progress' })
  talk.finish(turn, { reason: 'end_turn' })
  await turn.done
  expect(events).toEqual([
    { type: 'text-delta', text: 'hello' },
    { type: 'tool-call', toolCallId: 't1', title: 'Read', status: 'in_progress' },
    { type: 'tool-result', toolCallId: 't1', status: 'interrupted' },
    { type: 'turn-end', reason: 'end_turn' },
  ])
})
