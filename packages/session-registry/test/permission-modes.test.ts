import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PermissionMode, QuestionRequest, ToolKind } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { inFolder, KINDS, permission } from './fixtures/permission-requests.js'
import { temporaryHome } from './fixtures/test-registry.js'

const question: QuestionRequest = { kind: 'question', message: 'Which?', mode: 'form', schema: { type: 'object' } }

/** What each mode answers to each kind of tool, all of them inside the session's folder. */
const TABLE: Readonly<Record<PermissionMode, Readonly<Record<ToolKind, string>>>> = {
  ask: rows(() => 'ask'),
  'approve-reads': rows((kind) => (kind === 'read' || kind === 'search' ? 'once' : 'ask')),
  'approve-all': rows((kind) => (kind === 'switch_mode' ? 'ask' : 'once')),
  'deny-all': rows(() => 'no'),
}

function rows(answer: (kind: ToolKind) => string): Record<ToolKind, string> {
  return Object.fromEntries(KINDS.map((kind) => [kind, answer(kind)])) as Record<ToolKind, string>
}

test.each(Object.entries(TABLE).flatMap(([mode, row]) => Object.entries(row).map((each) => [mode, ...each])))(
  'the mode %s answers a tool of kind %s with %s',
  async (mode, kind, expected) => {
    const { decide } = await inFolder(mode as PermissionMode)
    expect(await decide({ kind: kind as ToolKind, locations: [{ path: 'a.txt' }] })).toBe(expected)
  },
)

test.each<[PermissionMode, string | undefined]>([
  ['ask', undefined],
  ['approve-reads', undefined],
  ['approve-all', undefined],
  ['deny-all', 'decline'],
])('the mode %s answers a question with %s', async (mode, expected) => {
  const { permissions } = await inFolder(mode)
  expect((await permissions.decide(question))?.answer.outcome).toBe(expected)
})

test('F77 no mode lets an agent leave its plan, by whatever name it calls that', async () => {
  for (const mode of ['ask', 'approve-reads', 'approve-all'] as const) {
    const { decide } = await inFolder(mode)
    expect(await decide({ kind: 'switch_mode' })).toBe('ask')
    expect(await decide({ kind: 'other', toolName: 'ExitPlanMode', input: { plan: 'all of it' } })).toBe('ask')
    expect(await decide({ kind: 'think', toolName: 'exit_plan_mode' })).toBe('ask')
  }
})

test('once is never raised to always, neither way', async () => {
  const always = { ...permission({ kind: 'edit' }), options: [permission().options[0], permission().options[3]] }
  const asked = { ...always, options: always.options.filter((option) => option !== undefined) }
  expect(await (await inFolder('approve-all')).permissions.decide(asked)).toBeUndefined()
  expect((await (await inFolder('deny-all')).permissions.decide(asked))?.answer.outcome).toBe('cancelled')
})

test('approve-reads is not fooled by what a tool calls itself', async () => {
  const { decide } = await inFolder('approve-reads')
  const path = 'a.txt'
  const locations = [{ path }]
  expect(await decide({ kind: 'read', locations })).toBe('once')
  expect(await decide({ kind: 'read', input: { file_path: path } })).toBe('once')
  expect(await decide({ kind: 'execute', title: 'Read a.txt', locations })).toBe('ask')
  expect(await decide({ title: 'Read a.txt', locations })).toBe('ask')
  expect(await decide({ kind: 'read', title: 'Read a.txt' })).toBe('ask')
  expect(await decide({ kind: 'read', locations, input: { command: 'rm -rf .' } })).toBe('ask')
  expect(await decide({ kind: 'read', locations, input: { cmd: ['cat', path] } })).toBe('ask')
  expect(await decide({ kind: 'read', locations, content: [{ type: 'diff', path, newText: 'x' }] })).toBe('ask')
  expect(await decide({ kind: 'read', locations, input: { filePath: '/etc/passwd' } })).toBe('ask')
  expect(await decide({ kind: 'read', locations, input: { path, cwd: '/etc' } })).toBe('ask')
  expect(await decide({ kind: 'read', locations, input: { edits: [{ path: '/etc/passwd' }] } })).toBe('ask')
  expect(await decide({ kind: 'read', locations, input: { uri: 'file:///etc/passwd' } })).toBe('ask')
  expect(await decide({ kind: 'search', input: { path: '.', pattern: '../../**' } })).toBe('ask')
  expect(await decide({ kind: 'search', input: { path: '.', pattern: 'foo..bar' } })).toBe('once')
})

test('approve-reads resolves links: a read is inside only if the file is', async () => {
  const { decide, cwd: root } = await inFolder('approve-reads')
  const outside = await temporaryHome()
  await mkdir(join(root, 'in'))
  await writeFile(join(outside, 'secret'), '')
  await symlink(outside, join(root, 'link'))
  await symlink(join(outside, 'not-there-yet'), join(root, 'dangling'))
  await symlink(join(root, 'loop'), join(root, 'loop'))
  const read = (path: string): Promise<string> => decide({ kind: 'read', locations: [{ path }] })
  expect(await read(join(root, 'in', 'new.txt'))).toBe('once')
  expect(await read('in/new.txt')).toBe('once')
  expect(await read('in/../in/new.txt')).toBe('once')
  expect(await read(join(root, 'link', 'secret'))).toBe('ask')
  expect(await read(join(root, 'link', 'new'))).toBe('ask')
  expect(await read('dangling')).toBe('ask')
  expect(await read('loop')).toBe('ask')
  expect(await read('~/.ssh/id_rsa')).toBe('ask')
  expect(await read(join(root, '..', 'x'))).toBe('ask')
  // The kernel steps up from where the link leads, whatever the name looks like.
  expect(await read(`${root}/link/../x`)).toBe('ask')
  expect(await read(`${root}-sibling/x`)).toBe('ask')
})

test('F88 what holds NUL is refused in every mode, before rules', async () => {
  for (const mode of ['ask', 'approve-reads', 'approve-all', 'deny-all'] as const) {
    const { decide } = await inFolder(mode, [{ match: { toolKind: 'read' } }])
    expect(await decide({ kind: 'read', locations: [{ path: 'a\0b' }] })).toBe('no')
    expect(await decide({ kind: 'execute', input: { command: 'git status\0' } })).toBe('no')
  }
})
