import type { AgentSignal } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { open } from './connecting.ts'

async function calls(order: string): Promise<readonly AgentSignal[]> {
  const { say } = await open('tools')
  return (await say(order)).filter(({ type }) => type !== 'text-delta' && type !== 'turn-end')
}

test('a call is emitted as it proceeds, its end as a result', async () => {
  expect(await calls('usual')).toEqual([
    {
      type: 'tool-call',
      toolCallId: 't1',
      toolName: 'read_file',
      title: 'Read',
      kind: 'read',
      status: 'pending',
      locations: [{ path: '/a', line: 3 }],
      input: { path: '/a' },
    },
    { type: 'tool-call', toolCallId: 't1', status: 'in_progress' },
    {
      type: 'tool-result',
      toolCallId: 't1',
      status: 'completed',
      content: [
        { type: 'content', content: { type: 'text', text: 'hi' } },
        { type: 'content', content: { type: 'text', text: '{"type":"weird","x":1}' } },
      ],
      output: { n: 1 },
    },
  ])
})

test('a status never goes back', async () => {
  expect(await calls('update-first')).toEqual([
    { type: 'tool-call', toolCallId: 't1', status: 'in_progress' },
    { type: 'tool-call', toolCallId: 't1', title: 'Late' },
    { type: 'tool-result', toolCallId: 't1', status: 'completed' },
  ])
})

test('a call that the agent reports only at its end gets a start', async () => {
  expect(await calls('only-end')).toEqual([
    { type: 'tool-call', toolCallId: 't1', title: 'Silent', kind: 'execute' },
    { type: 'tool-result', toolCallId: 't1', title: 'Silent', kind: 'execute', status: 'failed', output: 'no' },
  ])
})

test('a call ends once; what is said of it later is kept aside', async () => {
  expect(await calls('reopened')).toEqual([
    { type: 'tool-call', toolCallId: 't1', title: 'One', status: 'pending' },
    { type: 'tool-result', toolCallId: 't1', status: 'completed' },
    { type: 'extension', kind: 'tool_call_update', payload: expect.objectContaining({ status: 'in_progress' }) },
    { type: 'extension', kind: 'tool_call_update', payload: expect.objectContaining({ status: 'failed' }) },
  ])
})

test('F13 a call that the agent never ends is interrupted at the end of the turn', async () => {
  expect((await calls('dangling')).at(-1)).toEqual({ type: 'tool-result', toolCallId: 't1', status: 'interrupted' })
})

test('F50 late arguments are emitted; unknown kinds and statuses are replaced', async () => {
  expect(await calls('arguments')).toEqual([
    { type: 'tool-call', toolCallId: 't1', title: 'Edit', kind: 'other' },
    { type: 'tool-call', toolCallId: 't1', input: { file: 'x' } },
    {
      type: 'tool-result',
      toolCallId: 't1',
      status: 'completed',
      content: [
        { type: 'diff', path: '/x', newText: 'n' },
        { type: 'terminal', terminalId: 'z' },
      ],
    },
  ])
})

test('a call without an id is kept aside', async () => {
  expect(await calls('nameless')).toEqual([{ type: 'extension', kind: 'tool_call', payload: expect.anything() }])
})
