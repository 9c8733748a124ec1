import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PermissionRule, RuleMatch, ToolCall } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { inFolder } from './fixtures/permission-requests.js'
import { temporaryHome } from './fixtures/test-registry.js'

const read = (input: object): Partial<ToolCall> => ({ kind: 'read', input })
const search = (input: object): Partial<ToolCall> => ({ kind: 'search', input })
const execute = (input: unknown): Partial<ToolCall> => ({ kind: 'execute', input })
const allow = (match: RuleMatch): Partial<PermissionRule> => ({ match })

/** What real agents ask for when they read and search, with paths in the session's folder. */
const READS: readonly (readonly [string, Partial<ToolCall>])[] = [
  ['Claude Code Read', read({ file_path: 'a.txt', offset: 1, limit: 20, pages: '1-5' })],
  [
    'Claude Code Grep',
    search({ pattern: 'log.*Error$', path: '.', glob: '*.{ts,tsx}', output_mode: 'content', '-n': true }),
  ],
  [
    'Claude Code Grep with context',
    search({ pattern: 'x', path: 'src', type: 'ts', '-C': 3, '-i': true, head_limit: 5 }),
  ],
  ['Claude Code Glob', search({ pattern: 'src/**/*.ts', path: '.' })],
  ['Claude Code LS', search({ path: 'src', ignore: ['node_modules', '*.log'] })],
  ['OpenCode read', read({ filePath: 'a.txt', offset: 0, limit: 2000 })],
  ['OpenCode grep', search({ pattern: 'function\\s+\\w+', path: 'src', include: '*.ts' })],
  ['OpenCode glob', search({ pattern: '**/*.md', path: '.' })],
  ['Codex, as another agent reports it', { ...read({ call_id: 't', turn_id: 'u', path: 'a.txt', reason: 'why' }) }],
  ['Gemini CLI read_file', { kind: 'read', locations: [{ path: 'a.txt' }] }],
  ['Gemini CLI read_file, headless', read({ absolute_path: 'a.txt', start_line: 1, end_line: 9 })],
  ['Gemini CLI glob', search({ pattern: '*.json', dir_path: 'src', case_sensitive: false })],
  ['the demo agent', { ...read({ path: 'a.txt' }), locations: [{ path: 'a.txt' }] }],
  ['names of web frameworks', read({ file_path: 'app/[id]/(group)/page.tsx' })],
]

test.each(READS)('12.A4 approve-reads allows what it can read whole: %s', async (_name, call) => {
  const { decide } = await inFolder('approve-reads')
  expect(await decide(call)).toBe('once')
})

const path = 'a.txt'

test.each<[string, Partial<ToolCall>]>([
  ['a glob of another folder', search({ path: '.', include: ['/etc/*'] })],
  ['a glob in a read', read({ path, include: ['/etc/*'] })],
  ['an upper-case scheme', read({ path, uri: 'FILE:///etc/passwd' })],
  ['a URI as a path', read({ path: 'FILE:///etc/passwd' })],
  ['a URI of the web', read({ path, url: 'https://example.com' })],
  ['program and arguments', read({ path, program: 'cat', args: ['/etc/passwd'] })],
  ['root and target', read({ path, root: '/etc', target: 'passwd' })],
  ['code', read({ path, code: 'open("/etc/passwd")' })],
  ['a variable', read({ path: '$HOME/x' })],
  ['a variable of Windows', read({ path: '%USERPROFILE%/x' })],
  ['a variable in a glob', search({ path: '.', glob: '$HOME/**' })],
  ['a home in a location', { kind: 'read', locations: [{ path }, { path: '$HOME/.ssh' }] }],
  ['a glob as a path', read({ path: 'lin?/passwd' })],
  ['alternatives of a glob', search({ path: '.', glob: '{/etc,src}/*' })],
  ['a step up by alternatives', search({ path: '.', glob: '{.,x}./*' })],
  ['a step up in brackets', search({ path: '.', glob: '[.][.]/x' })],
  ['a step up with escapes', search({ path: '.', glob: String.raw`a/\.\./\.\./y` })],
  ['a step up before alternatives', search({ path: '.', glob: '.{./etc,x}' })],
  ['a step up in a group', search({ path: '.', glob: '.@(x|./etc)' })],
  ['a list in one text', read({ path: 'a.txt, /etc/passwd' })],
  ['a blank that is cut off', read({ path: ' /etc/passwd' })],
  ['quotes that are cut off', read({ path: '"/etc/passwd"' })],
  ['an encoded path', read({ path: '%2e%2e/x' })],
  ['a wide slash', read({ path: '．．／etc' })],
  ['an option as a path', search({ path: '-f/etc/passwd' })],
  ['an option as a pattern', search({ path: '.', pattern: '--pre=sh' })],
  ['a text to write', read({ path, content: 'evil' })],
  ['a path of another form', read({ path: { root: 'etc' } })],
  ['no path in a list', read({ path, paths: [] })],
  ['an unknown switch', read({ path, follow: true })],
  ['an unknown member with nothing', read({ path, sudo: '' })],
  ['a nested member', read({ path, options: { path } })],
  ['a text in place of an object', { kind: 'read', locations: [{ path }], input: 'cat /etc/passwd' }],
  ['a list in place of an object', { kind: 'read', locations: [{ path }], input: ['cat', '/etc/passwd'] }],
  ['a terminal', { ...read({ path }), content: [{ type: 'terminal', terminalId: '1' }] }],
  ['another folder of the call', search({ path: '/', pattern: 'x', cwd: '/etc' })],
  ['answers to a command', read({ path, call_id: 't', available_decisions: ['rm'] })],
  ['an id that is none', read({ path, call_id: '/etc/passwd' })],
  ['a member whose text cannot be made', read({ path, limit: { toString: 1 } })],
])('12.A4 approve-reads asks about %s', async (_name, call) => {
  const { decide } = await inFolder('approve-reads', [allow({ toolKind: 'read' }), allow({ toolKind: 'search' })])
  expect(await decide(call)).toBe('ask')
})

test('12.A4 a link in the fixed part of a pattern is followed', async () => {
  const { decide, cwd } = await inFolder('approve-reads')
  const outside = await temporaryHome()
  await mkdir(join(cwd, 'src'))
  await writeFile(join(outside, 'secret'), '')
  await symlink(outside, join(cwd, 'src', 'link'))
  expect(await decide(search({ path: 'src', glob: 'link/*' }))).toBe('ask')
  expect(await decide(search({ path: '.', glob: 'src/link/secret' }))).toBe('ask')
  expect(await decide(search({ path: '.', glob: 'src/*' }))).toBe('once')
})

const status = { command: 'git status' }

test.each<[string, unknown, string]>([
  ['the line', status, 'once'],
  ['what Claude Code adds', { ...status, description: 'Show it', timeout: 1000, run_in_background: false }, 'once'],
  [
    'what Codex adds',
    {
      call_id: 't',
      turn_id: 'u',
      started_at_ms: 1,
      command: ['/bin/bash', '-lc', 'git status'],
      cwd: '.',
      reason: 'why',
      proposed_execpolicy_amendment: ['git', 'status'],
      available_decisions: ['approved', { approved_execpolicy_amendment: {} }, 'abort'],
      parsed_cmd: [{ type: 'unknown', cmd: 'git status' }],
    },
    'once',
  ],
  ['words alone', ['git', 'status'], 'once'],
  ['an empty environment', { ...status, env: {} }, 'once'],
  ['the program with arguments', { command: 'git status', args: ['--x'] }, 'ask'],
  ['a shell of its own', { ...status, shell: '/tmp/evil' }, 'ask'],
  ['no sandbox', { ...status, dangerouslyDisableSandbox: true }, 'ask'],
  ['another folder by Gemini CLI', { ...status, dir_path: '/etc' }, 'ask'],
  ['several lines', { commands: ['git status', 'rm x'] }, 'ask'],
  ['a second command', { ...status, cmd: 'rm x' }, 'ask'],
  ['what is parsed as another', { call_id: 't', ...status, parsed_cmd: [{ cmd: 'rm x' }] }, 'ask'],
  ['more permissions', { call_id: 't', ...status, additional_permissions: { file_system: '/' } }, 'ask'],
])('12.A4 a rule for a command reads all of the call, here %s: %s', async (_name, input, expected) => {
  const { decide } = await inFolder('ask', [allow({ command: 'git status' })])
  expect(await decide(execute(input))).toBe(expected)
})

test('12.A4 a rule by kind allows only what it can read', async () => {
  const rules = (['read', 'edit', 'execute'] as const).map((toolKind) => allow({ toolKind }))
  const { decide } = await inFolder('ask', rules)
  expect(await decide(execute(status))).toBe('once')
  expect(await decide(execute({ command: 'rm $HOME/x' }))).toBe('ask')
  expect(await decide(execute({ program: 'rm', args: ['x'] }))).toBe('ask')
  expect(await decide({ kind: 'execute', title: 'ls' })).toBe('ask')
  expect(await decide({ kind: 'read', title: 'Read a.txt' })).toBe('ask')
  const edit = (input: object): Promise<string> => decide({ kind: 'edit', input })
  expect(await edit({ file_path: path, old_string: 'a', new_string: '/etc/$x', replace_all: true })).toBe('once')
  expect(await edit({ file_path: path, old_string: 'a', new_string: '' })).toBe('once')
  expect(await edit({ file_path: path, edits: [{ old_string: 'a', new_string: 'b' }] })).toBe('once')
  expect(
    await edit({ filepath: path, diff: `Index: ${path}\n--- ${path}\t\n+++ ${path}\t\n@@ -1 +1 @@\n-a\n+b\n` }),
  ).toBe('once')
  expect(await edit({ filepath: path, diff: '--- /dev/null\n+++ /etc/passwd\n' })).toBe('ask')
  expect(await edit({ changes: { [path]: { type: 'update', unified_diff: '@@', move_path: null } } })).toBe('once')
  expect(await edit({ changes: { [path]: { type: 'update', unified_diff: '@@', move_path: '/etc/x' } } })).toBe('ask')
  expect(await edit({ filepath: path, diff: '@@\n---\t/etc/passwd\n' })).toBe('ask')
  expect(await edit({ changes: [path] })).toBe('ask')
  expect(await edit({ file_path: path, patch: '*** Update File: /etc/passwd' })).toBe('ask')
})

test('12.A4 a text made to be slow to read is not read', async () => {
  const { decide } = await inFolder('approve-reads', [allow({ toolKind: 'fetch' })])
  const from = performance.now()
  for (const text of ['@(', '=', ' =', '{', 'a/', '..']) {
    expect(await decide(search({ path: '.', pattern: text.repeat(100_000) }))).toBe('ask')
    expect(await decide(read({ path: text.repeat(100_000) }))).toBe('ask')
  }
  expect(performance.now() - from).toBeLessThan(5_000)
  expect(await decide({ kind: 'fetch', input: { url: 'https://example.com/x', prompt: 'y' } })).toBe('once')
  expect(await decide({ kind: 'fetch', input: { url: 'https://example.com file:///etc/passwd' } })).toBe('ask')
})

test('12.A4 a rule that denies finds a command that is spread over members it does not know', async () => {
  const { decide } = await inFolder('approve-all', [{ match: { command: 'git push **' }, decision: 'deny' }])
  expect(await decide(execute({ program: 'git', args: ['push', '--force'] }))).toBe('no')
  expect(await decide(execute({ command: 'git', args: ['push'] }))).toBe('no')
  expect(await decide(execute({ steps: [{ run: { line: 'git push' } }] }))).toBe('no')
  expect(await decide(execute({ command: 'git', args: ['pull'] }))).toBe('once')
  expect(await decide({ kind: 'other', input: { body: 'Never git push.' } })).toBe('once')
})

test('12.A4 a rule of an earlier version allows no more than it did', async () => {
  const old = [allow({ toolKind: 'execute', command: 'git' }), allow({ toolKind: 'read', path: '/etc/hosts' })]
  const { decide } = await inFolder('ask', old)
  expect(await decide(execute({ command: 'git' }))).toBe('once')
  expect(await decide(execute({ command: 'git', args: ['push', '--force'] }))).toBe('ask')
  expect(await decide(read({ path: '/etc/hosts' }))).toBe('once')
  expect(await decide(read({ path: '/etc/hosts', target: '/etc/shadow' }))).toBe('ask')
})
