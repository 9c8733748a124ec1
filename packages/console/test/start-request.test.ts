import type { AdapterOption } from '@agentproto/client'
import { expect, test } from 'vitest'
import { promptSize, startRequest } from '../web/sessions/start-request.js'
import { textOf } from '../web/sessions/text-file.js'

test('15.3 an empty form is a start with nothing but the agent', () => {
  expect(startRequest({ adapter: 'demo', label: ' ', prompt: '\n', cost: '' }, {})).toEqual({
    adapter: 'demo',
  })
})

const OPTIONS = [
  { id: 'effort', type: 'enum', enum: ['low', 'high'], default: 'low' },
  { id: 'steps', type: 'integer', min: 1 },
  { id: 'note', type: 'string' },
  { id: 'unset', type: 'string' },
] as const satisfies readonly AdapterOption[]

test('15.3 a start says all that was filled in', () => {
  const fields = {
    adapter: 'demo',
    workspace: 'one',
    mode: 'plan',
    permissionMode: 'approve-reads',
    worktree: 'on',
    branch: 'fix',
    label: 'a',
    prompt: ' hello ',
    cost: '1.5',
    currency: 'eur',
    turns: '3',
    'option:effort': 'high',
    'option:steps': '3',
    'option:note': 'a=b',
    'option:other': 'is of another agent',
  }
  expect(startRequest(fields, { options: OPTIONS })).toEqual({
    adapter: 'demo',
    workspaceSlug: 'one',
    mode: 'plan',
    permissionMode: 'approve-reads',
    worktree: { branch: 'fix' },
    label: 'a',
    prompt: 'hello',
    budget: { cost: { amount: 1.5, currency: 'EUR' }, turns: 3 },
    options: { effort: 'high', steps: 3, note: 'a=b' },
  })
})

test('15.3 a folder wins over the workspace, and a worktree without a branch gets a new one', () => {
  expect(startRequest({ adapter: 'demo', workspace: 'one', cwd: '/x', worktree: 'on' }, {})).toEqual({
    adapter: 'demo',
    cwd: '/x',
    worktree: true,
  })
})

test('17.8 a start says where it runs and what becomes of it there, and nothing where nothing was chosen', () => {
  const fields = { adapter: 'demo', on: 'gpu=yes', onHostLoss: 'move' }
  expect(startRequest(fields, {})).toEqual({ adapter: 'demo', on: 'gpu=yes', onHostLoss: 'move' })
  expect(startRequest({ adapter: 'demo', on: '', onHostLoss: 'wait' }, {})).toEqual({ adapter: 'demo' })
})

test('15.3 an unknown permission mode is never sent, and what is no number is said', () => {
  expect(startRequest({ adapter: 'demo', permissionMode: 'constructor' }, {})).toEqual({ adapter: 'demo' })
  expect(() => startRequest({ adapter: 'demo', tokens: '12x' }, {})).toThrow(
    'The budget of tokens is a number. Given: 12x',
  )
})

test('15.3 text files are sent with the prompt, and count for its size', () => {
  const files = [{ name: 'a.txt', text: 'content' }]
  expect(startRequest({ adapter: 'demo', prompt: 'look' }, { files }).prompt).toEqual([
    { type: 'text', text: 'look' },
    { type: 'text', text: 'File a.txt:\n\ncontent' },
  ])
  expect(promptSize('', [])).toBe(2)
  expect(promptSize('é', files)).toBeGreaterThan(promptSize('e', files))
})

test('15.3 what is not text is no text file', () => {
  expect(textOf(new TextEncoder().encode('héllo'))).toBe('héllo')
  expect(textOf(new Uint8Array([0xff, 0xfe, 0x41]))).toBeUndefined()
  expect(textOf(new Uint8Array([0x41, 0]))).toBeUndefined()
})
