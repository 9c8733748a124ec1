import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { fixtureAgentPath } from '@agentproto/arm-testing'
import type { CasePrompts } from '@agentproto/arm-testing/cases'
import type { AgentCaseId, AgentObservation } from '@agentproto/contracts/agent'
import type { ProvisionHost } from '@agentproto/provisioning'
import {
  finding,
  type PublishCheck,
  publishCheck,
  type PublishFinding,
  publishReport,
} from '@agentproto/provisioning/publish-check'
import { describe, expect, test } from 'vitest'
import { builtDemoAgent } from '../../demo-agent/test/built-agent.ts'
import { observationFindings } from '../src/publish-check/observation-findings.js'
import { adapterOf, hostOf } from './test-host.js'

const OBSERVED: AgentObservation = {
  at: '2026-01-01T00:00:00.000Z',
  agentName: 'tool',
  agentVersion: '1.0.0',
  protocolVersion: 1,
  handshakeMs: 12,
  capabilities: {
    load: true,
    resume: false,
    list: false,
    close: false,
    fork: false,
    image: false,
    audio: false,
    embeddedContext: false,
    mcpHttp: false,
    mcpSse: false,
    additionalDirectories: false,
  },
  modes: [],
  models: [],
  logins: [],
  session: 'opened',
  ends: 'stdin',
  endMs: 20,
  stdoutNoise: { lines: 0 },
  leaves: { processes: [], files: 0, bytes: 0 },
}

/** A program of Node's as the agent of a manifest, with a home of its own. */
async function agentOf(path: string, args: readonly string[]): Promise<Pick<PublishCheck, 'adapter' | 'host'>> {
  const adapter = await adapterOf({ bin_args: [...args] })
  const limits: ProvisionHost['limits'] = { stdinGraceMs: 300, termGraceMs: 300 }
  return { adapter, host: hostOf({ executables: { 'agent-tool': path }, homes: 'isolated', limits }) }
}

const fixture = () => agentOf(fixtureAgentPath, ['acp', 'well'])

async function findingsOf(check: PublishCheck): Promise<readonly PublishFinding[]> {
  const findings: PublishFinding[] = []
  for await (const each of publishCheck({ observed: OBSERVED, ...check })) findings.push(each)
  return findings
}

const WELL: CasePrompts = { answer: 'echo hi', long: 'hang', permission: 'ask', tool: 'tool' }
/** A busy machine needs more than a second. */
const LIMITS = { answerMs: 30_000, cancelMs: 5_000 }

const one = async (only: AgentCaseId, prompts: Partial<CasePrompts>, limits = LIMITS) => {
  const findings = await findingsOf({ ...(await fixture()), prompts: { ...WELL, ...prompts }, limits, only: [only] })
  return findings.find(({ id }) => id === only)
}

test('the demo agent passes every check that needs a session', async () => {
  const prompts = {
    answer: 'stream 5 10',
    long: 'stream 500 20',
    permission: 'ask notes.txt hello',
    tool: 'write a.txt hello',
  }
  const agent = await agentOf(builtDemoAgent(), [])
  const findings = await findingsOf({ ...agent, prompts, limits: LIMITS })
  expect(findings.filter(({ verdict }) => verdict !== 'pass')).toEqual([])
  const { ok, passed, badge } = publishReport('demo 0.1.0', findings)
  expect({ ok, passed }).toEqual({ ok: true, passed: 14 })
  expect(badge).toBe('**ACP publish-check:** ✓ 14 passed · tool 1.0.0')
})

describe('an agent that misbehaves fails the check that is about it', () => {
  const WRONG: readonly (readonly [AgentCaseId, Partial<CasePrompts>, RegExp])[] = [
    ['answer', { answer: 'empty' }, /nothing was in it/],
    ['answer', { answer: 'fails' }, /overloaded/],
    ['answer', { answer: 'dies' }, /out of memory|exit|ended/],
    ['stream', { long: 'echo all at once' }, /at once/],
    ['tool', { tool: 'echo no tool' }, /none: echo no tool/],
    ['tool', { tool: 'tool-open' }, /1 of 1 have none/],
    ['permission', { permission: 'echo I just do it' }, /none: echo I just do it/],
    ['permission-cancel', { permission: 'echo I just do it' }, /none/],
    ['permission', { permission: 'ask-dies' }, /./],
  ]
  for (const [id, prompts, seen] of WRONG)
    test(`${id}: ${JSON.stringify(prompts)}`, async () => {
      expect(await one(id, prompts)).toMatchObject({
        verdict: 'fail',
        seen: expect.stringMatching(seen) as unknown,
        expected: expect.any(String) as unknown,
        advice: expect.any(String) as unknown,
      })
    })

  test('cancel: it is deaf, and the check does not wait for it', async () => {
    const found = await one('cancel', { long: 'deaf' }, { answerMs: 30_000, cancelMs: 300 })
    expect(found).toMatchObject({ verdict: 'fail', expected: 'the end of the turn within 300 ms' })
  })

  test('answer: it never answers', async () => {
    const found = await one('answer', { answer: 'hang' }, { answerMs: 400, cancelMs: 300 })
    expect(found).toMatchObject({ verdict: 'fail', seen: expect.stringContaining('working') as unknown })
  })

  test('answer: it floods, and not all of it is kept', async () => {
    const found = await one('answer', { answer: 'stream 60000' })
    expect(found).toMatchObject({ verdict: 'fail', expected: 'a turn of reasonable size' })
  })

  test('end-in-turn: it resists, and is gone all the same', async () => {
    expect(await one('end-in-turn', { long: 'stubborn' })).toMatchObject({ verdict: 'pass' })
  })
})

test('the agent works in an empty folder, of which nothing stays', async () => {
  const found = await one('answer', { answer: 'place' })
  const { 1: folder = '' } = /"cwd":"([^"]+)"/.exec(found?.verdict === 'pass' ? found.seen : '') ?? []
  expect(folder).toContain('agentproto-publish-check-')
  expect(existsSync(folder)).toBe(false)
})

test('a turn that is over before it can be cancelled says nothing about cancelling', async () => {
  expect(await one('cancel', { long: 'echo short' })).toMatchObject({
    verdict: 'skipped',
    reason: expect.stringContaining('longer prompt') as unknown,
  })
})

test('without a prompt for it, a check is skipped, with the option that gives one', async () => {
  const findings = await findingsOf({
    ...(await fixture()),
    prompts: { answer: 'echo hi', long: 'hang' },
    only: ['tool', 'permission', 'load'],
  })
  expect(findings.slice(-3)).toMatchObject([
    { id: 'tool', verdict: 'skipped', reason: expect.stringContaining('--prompt-tool') as unknown },
    { id: 'permission', verdict: 'skipped', reason: expect.stringContaining('--prompt-permission') as unknown },
    { id: 'load', verdict: 'skipped', reason: 'the agent offers neither load nor resume' },
  ])
})

const forgetful = (how: string) =>
  agentOf(fileURLToPath(new URL('fixtures/forgetful-agent.mjs', import.meta.url)), [how])

test('an agent that announces session/load and has forgotten fails there alone', async () => {
  const load = async (how: string) =>
    findingsOf({ ...(await forgetful(how)), prompts: WELL, limits: LIMITS, only: ['answer', 'load'] })
  expect((await load('keeps')).slice(-2)).toMatchObject([{ verdict: 'pass' }, { verdict: 'pass' }])
  expect((await load('forgets')).slice(-2)).toMatchObject([
    { id: 'answer', verdict: 'pass' },
    { id: 'load', verdict: 'fail', seen: expect.stringContaining('no such session') as unknown },
  ])
})

test('an agent that is not logged in is started once, and every check says why it was skipped', async () => {
  const findings = await findingsOf({ ...(await forgetful('refuses')), prompts: WELL })
  const cases = findings.slice(5)
  expect(cases).toHaveLength(9)
  for (const each of cases)
    expect(each).toMatchObject({ verdict: 'skipped', reason: expect.stringContaining('log in first') as unknown })
})

test('an agent that does not start fails once', async () => {
  const agent = await agentOf(fixtureAgentPath, ['acp', 'dies-at-once'])
  const findings = await findingsOf({ ...agent, prompts: WELL, limits: LIMITS })
  expect(findings.filter(({ verdict }) => verdict === 'fail')).toMatchObject([
    { id: 'answer', seen: expect.stringContaining('no configuration found') as unknown },
  ])
})

test('an agent that answered no handshake is not started for the others', async () => {
  const observed = { at: OBSERVED.at, failed: { code: 'timeout', message: 'no answer' } } as const
  const findings = await findingsOf({ ...(await fixture()), observed })
  expect(findings[0]).toMatchObject({ id: 'handshake', verdict: 'fail', seen: 'no answer (timeout)' })
  expect(findings.slice(1).every(({ verdict }) => verdict === 'skipped')).toBe(true)
  expect(publishReport('x', findings).ok).toBe(false)
})

test('a check that is cancelled ends its agent', async () => {
  const ending = new AbortController()
  const agent = await fixture()
  const check = publishCheck({
    ...agent,
    observed: OBSERVED,
    prompts: { ...WELL, answer: 'hang' },
    signal: ending.signal,
  })
  const read = (async () => {
    for await (const { id } of check) if (id === 'left') setTimeout(() => ending.abort(), 1_500).unref()
  })()
  await expect(read).rejects.toMatchObject({ code: 'cancelled' })
})

describe('what was measured', () => {
  const verdicts = (more: Partial<AgentObservation>) =>
    Object.fromEntries(observationFindings({ ...OBSERVED, ...more }).map((each) => [each.id, each]))

  test('an agent that does well passes', () => {
    expect(Object.values(verdicts({})).map(({ verdict }) => verdict)).toEqual(Array(5).fill('pass'))
    expect(verdicts({})['handshake']).toMatchObject({ seen: 'tool 1.0.0, version 1 after 12 ms; offers load' })
  })

  test('noise on stdout, an end by a signal and processes that stay are failures', () => {
    const stdoutNoise = { lines: 2, first: 'Welcome' }
    expect(verdicts({ stdoutNoise })['stdout']).toMatchObject({ verdict: 'fail', seen: '2 other lines: Welcome' })
    expect(verdicts({ ends: 'SIGTERM', endMs: 8_500 })['exit']).toMatchObject({ verdict: 'fail' })
    const leaves = { processes: ['node'], files: 1, bytes: 2 }
    expect(verdicts({ leaves })['left']).toMatchObject({ verdict: 'fail', seen: 'node; they were ended' })
  })

  test('a refused session passes with a login that is named, and fails otherwise', () => {
    const refused = { code: 'auth_required', message: 'log in', agentCode: -32000 } as const
    const logins = [{ id: 'a', name: 'By key', needsTerminal: false }]
    expect(verdicts({ session: { refused }, logins })['session']).toMatchObject({ verdict: 'pass' })
    expect(verdicts({ session: { refused } })['session']).toMatchObject({
      verdict: 'fail',
      expected: expect.stringContaining('authMethods') as unknown,
    })
    const other = { refused: { ...refused, code: 'handshake_failed', agentCode: -32603 } } as const
    expect(verdicts({ session: other, logins })['session']).toMatchObject({ verdict: 'fail', seen: 'log in (-32603)' })
  })
})

test('the badge is one line, in which the name of an agent is no markup', () => {
  const findings = [
    finding('answer', { verdict: 'fail', expected: 'a', seen: 'b' }),
    finding('tool', { verdict: 'skipped', reason: 'c' }),
  ]
  const { badge, shield, ok } = publishReport('![x](https://e)\n<script> 1.0', findings)
  expect(ok).toBe(false)
  expect(badge).toBe(
    String.raw`**ACP publish-check:** ✗ 0 passed, 1 failed, 1 skipped · \!\[x\]\(https://e\) \<script\> 1.0`,
  )
  expect(shield).toEqual({
    schemaVersion: 1,
    label: 'ACP publish-check',
    message: '0 passed, 1 failed, 1 skipped',
    color: 'red',
  })
})
