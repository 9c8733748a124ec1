import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { cli, folder, type Options } from './cli-process.js'

// The report for authors of agents.

const FIXTURES = fileURLToPath(new URL('../../arm-testing/fixtures', import.meta.url))

const options = (): Options => ({ home: folder(), env: { HOME: folder('user'), TMPDIR: folder('tmp') } })
const check = (...words: readonly string[]) => ['adapters', 'publish-check', ...words]

test('the demo agent passes all checks; the report ends with a line for a README', async () => {
  const prompts = ['--prompt-permission', 'ask notes.txt hello', '--prompt-tool', 'write a.txt hello']
  const own = options()
  const { code, stdout, stderr } = await cli(check('demo', ...prompts), own)
  expect(stderr).toBe('')
  expect(stdout).toMatch(/^✓ It answers initialize +agentproto-demo-agent /)
  expect(stdout).toContain('14 passed, 0 failed, 0 skipped')
  expect(stdout).toMatch(/^For a README: \*\*ACP publish-check:\*\* ✓ 14 passed · agentproto-demo-agent /m)
  expect(code).toBe(0)
  expect(readdirSync(own.env?.['TMPDIR'] ?? '')).toEqual([])
})

test('a command that starts an agent is checked in a home of its own; a failure is exit code 1, and JSON has all of it', async () => {
  const own = { ...options(), cwd: FIXTURES }
  const prompts = ['--prompt', 'env', '--prompt-tool', 'tool-open', '--only', 'answer', 'tool', 'load', '--json']
  const { code, stdout } = await cli(check(...prompts, '--', 'node', 'agent.mjs', 'acp', 'noisy'), own)
  expect(code).toBe(1)
  const report = JSON.parse(stdout)
  expect(report).toMatchObject({ ok: false, failed: 2, shield: { schemaVersion: 1, color: 'red' } })
  const found = Object.fromEntries(report.checks.map((each: { id: string }) => [each.id, each]))
  expect(found).toMatchObject({
    handshake: { verdict: 'pass', agent: 'fixture 1.2.3' },
    stdout: { verdict: 'fail', seen: expect.stringContaining('Welcome!'), advice: expect.stringContaining('stderr') },
    answer: { verdict: 'pass' },
    tool: { verdict: 'fail', expected: 'a result of each tool call' },
    load: { verdict: 'skipped' },
  })
  expect(Object.keys(found)).not.toContain('cancel')
})

test('an agent that never answers, and one that is not there, are findings or errors, and never a hang', async () => {
  const own = { ...options(), cwd: FIXTURES }
  const dead = await cli(check('--', 'node', 'agent.mjs', 'acp', 'dies-in-handshake'), own)
  expect(dead).toMatchObject({ code: 1, stdout: expect.stringContaining('1 failed, 13 skipped') as unknown })
  expect(await cli(check('./no-such-program'), own)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('was not found') as unknown,
  })
  expect(await cli(check('no-such-adapter'), own)).toMatchObject({ code: 2 })
  expect(await cli(check('aider'), own)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('speak ACP') as unknown,
  })
  expect(await cli(check('opencode'), { ...own, env: { ...own.env, PATH: '/usr/bin:/bin' } })).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('It installs') as unknown,
  })
  expect(await cli(check('demo', '--only', 'nothing'), own)).toMatchObject({ code: 2 })
})
