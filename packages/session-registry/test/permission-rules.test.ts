import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { PermissionRule, RuleMatch, ToolCall } from '@agentproto/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { simpleCommands } from '../src/permissions/command-words.js'
import { escapePattern, matchesPath, matchesWords } from '../src/permissions/pattern.js'
import { matchOf, matchOfRequest } from '../src/permissions/rule-making.js'
import { inFolder, permission } from './fixtures/permission-requests.js'
import { temporaryHome } from './fixtures/test-registry.js'

const run = (command: unknown, more: object = {}): Partial<ToolCall> => ({
  kind: 'execute',
  input: { command, ...more },
})
const edit = (path: string): Partial<ToolCall> => ({ kind: 'edit', locations: [{ path }] })
const allow = (match: RuleMatch): Partial<PermissionRule> => ({ match })
const deny = (match: RuleMatch): Partial<PermissionRule> => ({ match, decision: 'deny' })

test.each([
  ['git status', 'git status', true],
  ['git  status', 'git status', true],
  [`git 'status'`, 'git status', true],
  ['git status -s', 'git status', false],
  ['git status && rm -rf /', 'git status', false],
  ['git status; rm -rf /', 'git status', false],
  ['git status\nrm -rf /', 'git status', false],
  ['git status | sh', 'git status', false],
  ['git status & rm x', 'git status', false],
  ['rm -rf / # git status', 'git status', false],
  ['echo git status', 'git status', false],
  ['PAGER=evil git status', 'git status', false],
  ['./git status', 'git status', false],
  ['git status > ~/.bashrc', 'git status **', false],
  ['git status $(rm x)', 'git status **', false],
  ['git status `rm x`', 'git status **', false],
  ['git status "$(rm x)"', 'git status **', false],
  ['git status $HOME', 'git status **', false],
  ['git status <(rm x)', 'git status **', false],
  ['(git status)', 'git status', false],
  ['{ git status; }', 'git status', false],
  ['git status \\\n-s', 'git status **', false],
  [`git status 'unclosed`, 'git status **', false],
  ['git status -s --long', 'git status **', true],
  ['git status && git status -s', 'git status **', true],
  ['npm run build', 'npm run *', true],
  ['npm run build extra', 'npm run *', false],
  ['npm run', 'npm run *', false],
  ['cat "a b.txt"', 'cat "a b.txt"', true],
  ['cat a b.txt', 'cat "a b.txt"', false],
  ['cat a*b', String.raw`cat a\*b`, false],
  [`cat 'a*b'`, String.raw`cat a\*b`, true],
  [['bash', '-lc', 'git status'], 'git status', true],
  [['/bin/sh', '-c', 'git status && rm x'], 'git status', false],
  [['/tmp/bash', '-lc', 'git status'], 'git status', false],
  [['bash', '-norc', 'git status'], 'git status', false],
  [['bash', '-ic', 'git status'], 'git status', false],
  [['git', 'status'], 'git status', true],
  [['git', 'log', 'a; rm x'], 'git log **', true],
  [['git', 'status', 7], 'git status **', false],
])('the command %j is allowed by the rule %j: %s', async (command, pattern, allowed) => {
  const { decide } = await inFolder('ask', [allow({ command: pattern })])
  expect(await decide(run(command))).toBe(allowed ? 'once' : 'ask')
})

test.each([
  ['git push origin', true],
  ['cd x && git push', true],
  ['sudo git push --force', true],
  [`bash -c 'git push'`, true],
  ['x=$(git push)', true],
  ['"git" pu""sh', true],
  ['git pull', false],
])('the command %j is denied by a rule against git push: %s', async (command, denied) => {
  const { decide } = await inFolder('approve-all', [deny({ command: 'git push **' })])
  expect(await decide(run(command))).toBe(denied ? 'no' : 'once')
})

test('a command is allowed when it runs in the session’s folders, without an environment or input of its own', async () => {
  const { decide, cwd } = await inFolder('ask', [allow({ command: 'make' })])
  expect(await decide(run('make', { cwd }))).toBe('once')
  expect(await decide(run('make', { workdir: 'sub' }))).toBe('once')
  expect(await decide(run('make', { cwd: '/' }))).toBe('ask')
  expect(await decide(run('make', { env: { LD_PRELOAD: 'x' } }))).toBe('ask')
  expect(await decide(run('make', { env: [{ name: 'LD_PRELOAD', value: 'x' }] }))).toBe('ask')
  expect(await decide(run('make', { env: {} }))).toBe('once')
  expect(await decide(run('make', { steps: [{ cmd: 'rm -rf /' }] }))).toBe('ask')
  expect(await decide({ kind: 'execute', title: 'make' })).toBe('ask')
})

test('a path rule holds when all that a call names is under it, links followed', async () => {
  const { decide, cwd } = await inFolder('ask')
  const outside = await temporaryHome()
  await mkdir(join(cwd, 'src'))
  await symlink(outside, join(cwd, 'src', 'out'))
  await symlink(join(outside, 'new'), join(cwd, 'src', 'dangling'))
  expect(await decide(edit('src/a.ts'))).toBe('ask')
  const ruled = async (call: Partial<ToolCall>): Promise<string> => {
    const match = await matchOf({ decision: 'allow', toolKind: 'edit', path: 'src/**' }, cwd)
    const { permissions } = await inFolder('ask', [allow(match)])
    // The calls are about the first folder, so their paths are absolute.
    const answer = (await permissions.decide(permission(call)))?.answer
    return answer?.outcome === 'selected' ? answer.optionId : 'ask'
  }
  expect(await ruled(edit(`${cwd}/src/a.ts`))).toBe('once')
  expect(await ruled(edit(`${cwd}/src/deep/er/a.ts`))).toBe('once')
  expect(await ruled(edit(`${cwd}/src/out/a.ts`))).toBe('ask')
  expect(await ruled(edit(`${cwd}/src/dangling`))).toBe('ask')
  expect(await ruled(edit(`${cwd}/src/../b.ts`))).toBe('ask')
  expect(await ruled(edit(`${cwd}/srcs/a.ts`))).toBe('ask')
  expect(await ruled({ kind: 'read', locations: [{ path: `${cwd}/src/a.ts` }] })).toBe('ask')
  const two = [{ path: `${cwd}/src/a.ts` }, { path: `${cwd}/b.ts` }]
  expect(await ruled({ kind: 'edit', locations: two })).toBe('ask')
  expect(await ruled({ ...edit(`${cwd}/src/a.ts`), input: { changes: { '/etc/passwd': {} } } })).toBe('ask')
  expect(await ruled({ ...edit(`${cwd}/src/a.ts`), input: { command: 'rm x' } })).toBe('ask')
})

test('a rule by kind alone holds inside the session’s folders, and never for leaving a plan', async () => {
  const { decide } = await inFolder('ask', [allow({ toolKind: 'edit' }), allow({ toolKind: 'other' })])
  expect(await decide(edit('a.ts'))).toBe('once')
  expect(await decide(edit('/etc/passwd'))).toBe('ask')
  expect(await decide({ kind: 'other', toolName: 'exit_plan_mode' })).toBe('ask')
  const said = await inFolder('ask', [allow({ toolKind: 'switch_mode' })])
  expect(await said.decide({ kind: 'switch_mode' })).toBe('once')
})

test('what denies wins over what allows, wherever it was made, and both over the mode', async () => {
  const { decide, workspaces } = await inFolder('deny-all', [allow({ toolKind: 'edit' })])
  expect(await decide(edit('a.ts'))).toBe('once')
  expect(await decide({ kind: 'read' })).toBe('no')
  const rule = { ruleId: 'pr_w', lifetime: 'workspace', decision: 'deny', createdAt: '', createdBy: 'owner' } as const
  await workspaces.add('web', { ...rule, match: { path: '/**/a.ts' } })
  expect(await decide(edit('a.ts'))).toBe('no')
  expect(await decide(edit('b.ts'))).toBe('once')
})

test('a rule for once is used up by one call, and spared by one that stays', async () => {
  const once = { ...allow({ toolKind: 'edit' }), lifetime: 'once' } as const
  const { decide, permissions } = await inFolder('ask', [once])
  const answers = await Promise.all([decide(edit('a.ts')), decide(edit('a.ts'))])
  expect(answers.toSorted()).toEqual(['ask', 'once'])
  expect(permissions.own).toEqual([])
  const both = await inFolder('ask', [once, allow({ toolKind: 'edit' })])
  expect(await both.decide(edit('a.ts'))).toBe('once')
  expect(both.permissions.own).toHaveLength(2)
})

test('where the rules of the workspace cannot be read, a person is asked whatever the mode allows', async () => {
  const { decide, workspaces, problems } = await inFolder('approve-all')
  workspaces.around = () => Promise.reject(new Error('no such disk'))
  expect(await decide(edit('a.ts'))).toBe('ask')
  expect(problems).toHaveLength(1)
})

const remembered = (call: Partial<ToolCall>, cwd: string, decision: PermissionRule['decision'] = 'allow') =>
  matchOfRequest(permission(call), { cwd, decision, lifetime: 'session' })

test.each<[Partial<ToolCall>, RuleMatch]>([
  [run('git log --oneline'), { toolKind: 'execute', command: 'git log --oneline' }],
  [run(`echo 'a *'`), { toolKind: 'execute', command: String.raw`echo "a \*"` }],
  [edit('/a?.ts'), { toolKind: 'edit', path: String.raw`/a\?.ts` }],
  [run('a && b'), { call: expect.stringMatching(/^[0-9a-f]{64}$/) as string }],
])('the denial of %j is remembered as %j: a change of its words does not get around it', async (call, match) => {
  expect(await remembered(call, '/', 'deny')).toEqual(match)
})

test('12.A4 an answer that allows is remembered by a digest of the whole call', async () => {
  const { cwd } = await inFolder('ask')
  const calls: Partial<ToolCall>[] = [
    run('git log'),
    run('a && b'),
    run('a', { cwd: '/' }),
    { kind: 'edit', input: { path: 'a.ts', content: 'a' } },
    { kind: 'fetch', input: { url: 'http://x' } },
  ]
  for (const { input, ...call } of calls) {
    const match = await remembered({ ...call, input }, cwd)
    expect(match).toEqual({ call: expect.stringMatching(/^[0-9a-f]{64}$/) as string })
    const reported = { call_id: 't', turn_id: 'new', started_at_ms: 1 }
    // The same call, asked again: the id of the call shows that these are no input.
    const again = { ...call, input: { ...reported, ...(input as object) } }
    expect(await remembered(again, cwd)).toEqual(match)
    for (const more of [{ more: 1 }, { ...reported, call_id: 'other' }, { timestamp: 1 }, { request_id: 'x' }])
      expect(await remembered({ ...call, input: { ...(input as object), ...more } }, cwd)).not.toEqual(match)
    expect(await remembered({ ...call, input, title: 'Another tool' }, cwd)).not.toEqual(match)
  }
  const plan: Partial<ToolCall> = { kind: 'switch_mode', input: { plan: 'x' } }
  expect(await remembered(plan, cwd)).toMatchObject({ toolKind: 'switch_mode' })
  const listed = await remembered({ kind: 'other', input: { a: [['b', 1]] } }, cwd)
  expect(await remembered({ kind: 'other', input: { a: { b: 1 } } }, cwd)).not.toEqual(listed)
})

test('what says only its title cannot be remembered', async () => {
  const titled: Partial<ToolCall> = { kind: 'execute', title: 'rm -rf /' }
  expect(await remembered(titled, '/')).toBeUndefined()
  expect(await remembered({ ...titled, locations: [{ path: '/a' }] }, '/')).toBeUndefined()
})

test('12.A4 what is remembered of a call allows that call and no other', async () => {
  const argv = run('git', { args: ['status'] })
  for (const call of [
    argv,
    run('git log -3'),
    run('a && b'),
    edit('/x/*.ts'),
    { kind: 'fetch', input: { q: 1 } } as const,
  ]) {
    const match = (await remembered(call, '/')) ?? {}
    const { decide } = await inFolder('ask', [allow(match)])
    expect(await decide(call)).toBe('once')
    expect(await decide(run('git', { args: ['push', '--force'] }))).toBe('ask')
    expect(await decide(run('git'))).toBe('ask')
    expect(await decide(run('git log'))).toBe('ask')
    expect(await decide(edit('/x/y.ts'))).toBe('ask')
  }
})

test.each([
  [{}, 'toolKind'],
  [{ path: 'a\0b' }, 'path'],
  [{ path: '../x' }, 'path'],
  [{ command: 'a && b' }, 'command'],
  [{ command: '$(x)' }, 'command'],
  [{ command: 'a\0' }, 'command'],
  [{ command: ' ' }, 'command'],
  [{ command: 'a', path: 'b' }, 'path'],
])('the rule %j is refused for its %s', async (rule, field) => {
  await expect(matchOf({ decision: 'allow', ...rule }, '/')).rejects.toMatchObject({
    code: 'invalid_request',
    parts: { data: { field } },
  })
})

test.each([
  ['/a/*.ts', '/a/b.ts', true],
  ['/a/*.ts', '/a/b/c.ts', false],
  ['/a/**', '/a', true],
  ['/a/**', '/a/b/c', true],
  ['/a/**', '/ab', false],
  ['/a/**/z', '/a/z', true],
  ['/a/**/z', '/a/b/c/z', true],
  ['/a/?', '/a/b', true],
  ['/a/?', '/a/bc', false],
  ['/**/.env*', '/x/y/.env.local', true],
  [String.raw`/a/\*`, '/a/*', true],
  [String.raw`/a/\*`, '/a/b', false],
  ['/a/[b].ts', '/a/[b].ts', true],
])('the pattern %s stands for %s: %s', (pattern, path, expected) => {
  expect(matchesPath(pattern, path)).toBe(expected)
})

test('text that is escaped matches itself alone', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z*?\\[\]. -]{0,12}$/), fc.string(), (name, other) => {
      expect(matchesPath(escapePattern(`/${name}`), `/${name}`)).toBe(true)
      expect(matchesPath(escapePattern(`/${name}`), `/${other}`)).toBe(name === other)
    }),
  )
})

test('a pattern of many stars is matched in linear time', () => {
  expect(matchesWords(`${'*a'.repeat(200)}b`, ['a'.repeat(4_000)])).toBe(false)
  expect(matchesPath('/**/x'.repeat(200), '/x'.repeat(1_000))).toBe(true)
})

test('a line that is read as simple holds nothing that a shell would act on', () => {
  const chars = fc.constantFrom(...Array.from(`ab '"\\$\`;&|<>(){}*?#~!\n`))
  fc.assert(
    fc.property(fc.string({ unit: chars }), (line) => {
      const acts = /[$`\\<>(){}*?!]/.test(line.replaceAll(/'[^']*'/g, '').replaceAll(/"[^"$`\\]*"/g, ''))
      expect(acts && simpleCommands(line) !== undefined).toBe(false)
    }),
  )
})
