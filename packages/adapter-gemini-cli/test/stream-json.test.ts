import { expect, test } from 'vitest'
import { readLine } from '../src/stream-json.ts'

const eventsOf = (line: unknown) => readLine(typeof line === 'string' ? line : JSON.stringify(line))

test('messages of the assistant are text, those of the user are ignored', () => {
  const message = { type: 'message', content: 'hi', delta: true }
  expect(eventsOf({ ...message, role: 'assistant' })).toEqual({
    events: [{ type: 'text-delta', text: 'hi' }],
  })
  expect(eventsOf({ ...message, role: 'user' })).toEqual({ events: [] })
})

test('a tool call has a kind, a title and locations', () => {
  const use = {
    type: 'tool_use',
    tool_id: 't1',
    tool_name: 'write_file',
    parameters: { file_path: 'a.txt', content: 'x' },
  }
  expect(eventsOf(use)).toMatchObject({
    events: [
      {
        type: 'tool-call',
        toolCallId: 't1',
        kind: 'edit',
        title: 'a.txt',
        locations: [{ path: 'a.txt' }],
        status: 'in_progress',
      },
    ],
  })
  const shell = { type: 'tool_use', tool_id: 't2', tool_name: 'run_shell_command', parameters: { command: 'ls' } }
  expect(eventsOf(shell)).toMatchObject({ events: [{ kind: 'execute', title: 'ls' }] })
  const result = { type: 'tool_result', tool_id: 't2', status: 'error', error: { message: 'denied' } }
  expect(eventsOf(result)).toMatchObject({
    events: [{ type: 'tool-result', toolCallId: 't2', status: 'failed', output: 'denied' }],
  })
})

test('a result is a success, or an error with a message', () => {
  expect(eventsOf({ type: 'result', status: 'success' })).toEqual({ events: [], result: {} })
  const failed = {
    type: 'result',
    status: 'error',
    error: { type: 'unknown', message: '[API Error: 400]' },
    stats: { input_tokens: 0 },
  }
  expect(eventsOf(failed)).toEqual({
    events: [],
    result: { error: { message: '[API Error: 400]', agentCode: 'unknown' }, usage: { inputTokens: 0 } },
  })
})

test('warnings are notices; unknown lines are extensions', () => {
  expect(eventsOf({ type: 'error', severity: 'warning', message: 'Loop detected' })).toMatchObject({
    events: [{ type: 'notice', severity: 'warning', text: 'Loop detected' }],
  })
  expect(eventsOf({ type: 'dance' })).toMatchObject({ events: [{ type: 'extension', kind: 'dance' }] })
  expect(eventsOf({ type: 'tool_use' })).toMatchObject({ events: [{ type: 'extension', kind: 'tool_use' }] })
  expect(eventsOf('Loading …')).toMatchObject({ events: [{ type: 'output', stream: 'stdout', text: 'Loading …' }] })
  expect(eventsOf('{"type":')).toMatchObject({ events: [{ type: 'output' }] })
})
