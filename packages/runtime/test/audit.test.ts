import { existsSync } from 'node:fs'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock, Principal, SessionEvent } from '@agentproto/contracts'
import { createRedactor } from '@agentproto/secrets'
import { expect, onTestFinished, test } from 'vitest'
import { AuditLog, type AuditLogOptions } from '../src/audit/audit-log.js'
import { ToolAudit } from '../src/audit/tool-audit.js'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

const owner: Principal = { type: 'owner', name: 'owner' }
const ci: Principal = { type: 'token', name: 'ci', scope: 'operate' }
type Line = Readonly<Record<string, unknown>>

const linesOf = async (home: string): Promise<readonly Line[]> =>
  (await readFile(join(home, 'logs', 'audit.jsonl'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)

async function openLog(options: Partial<AuditLogOptions> = {}): Promise<{ log: AuditLog; home: string }> {
  const home = await temporaryHome()
  const clock: Clock = { now: () => Date.parse('2026-11-22T00:00:00.000Z'), after: () => ({ cancel: () => undefined }) }
  const path = join(home, 'logs', 'audit.jsonl')
  const log = new AuditLog({ path, clock, redact: (line) => line, onProblem: () => undefined, ...options })
  onTestFinished(() => log.close())
  return { log, home }
}

test('each control action is written with who did it, on what, and how it ended, but nothing that was said', async () => {
  const home = await temporaryHome()
  const gateway = await testGateway({
    home,
    hooks: { beforeSpawn: ({ by }) => (by === ci ? { deny: 'no' } : undefined) },
  })
  const { sessions } = gateway
  const { id } = await sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'a private first word' }, owner)
  await sessions.waitTurn(id, 1)
  await sessions.waitTurn(id, (await sessions.prompt(id, { prompt: 'another private word' }, ci)).turn)
  await expect(sessions.spawn({ adapter: 'demo', cwd: home }, ci)).rejects.toMatchObject({ code: 'hook_stopped' })
  await expect(sessions.kill('nobody', ci)).rejects.toMatchObject({ code: 'session_not_found' })
  const { ruleId } = await gateway.permissions.addRule({ sessionId: id }, { decision: 'deny', toolKind: 'edit' }, ci)
  await gateway.permissions.removeRule({ sessionId: id }, ruleId, ci)
  await sessions.interrupt(id, ci)
  await sessions.kill(id, owner, 'user_canceled')
  await sessions.forget(id, owner)
  // Over HTTP it is the same, and the caller is whom the token says.
  const headers = { authorization: `Bearer ${gateway.token}`, host: 'localhost', 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'ci', scope: 'operate' })
  const made = await gateway.app.request('/tokens', { method: 'POST', headers, body })
  const { token } = (await made.json()) as { token: string }
  const asCi = { ...headers, authorization: `Bearer ${token}` }
  expect((await gateway.app.request(`/sessions/${id}/kill`, { method: 'POST', headers: asCi })).status).toBe(404)
  await gateway.app.request('/tokens/ci', { method: 'DELETE', headers })
  await gateway.close()
  const lines = (await linesOf(home)).filter(({ kind }) => kind === 'control')
  const told = lines.map(({ principal, action, session, outcome }) => [
    (principal as Principal).name,
    action,
    session === id ? 'it' : session,
    outcome,
  ])
  expect(told.slice(0, 9)).toEqual([
    ['owner', 'spawn', 'it', 'ok'],
    ['ci', 'prompt', 'it', 'ok'],
    ['ci', 'spawn', undefined, 'hook_stopped'],
    ['ci', 'kill', 'nobody', 'session_not_found'],
    ['ci', 'rule-add', 'it', 'ok'],
    ['ci', 'rule-remove', 'it', 'ok'],
    ['ci', 'interrupt', 'it', 'ok'],
    ['owner', 'kill', 'it', 'ok'],
    ['owner', 'forget', 'it', 'ok'],
  ])
  expect(told.slice(9).map(([name, action]) => [name, action])).toEqual(
    expect.arrayContaining([
      ['owner', 'token-create'],
      ['owner', 'token-revoke'],
    ]),
  )
  expect(lines[0]).toMatchObject({ adapter: 'demo', cwd: home, promptChars: 20, principal: { type: 'owner' } })
  const text = await readFile(join(home, 'logs', 'audit.jsonl'), 'utf8')
  expect(text).not.toContain('private')
  expect(text).not.toContain(token)
  expect((await stat(join(home, 'logs', 'audit.jsonl'))).mode & 0o777).toBe(0o600)
})

test('a tool call is written at its end, with who approved it, or which rule', async () => {
  const home = await temporaryHome()
  const gateway = await testGateway({ home })
  const { sessions, permissions } = gateway
  const { id } = await sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'ask one.txt' }, owner)
  await expect.poll(async () => (await sessions.requests(id)).length, { timeout: 20_000 }).toBe(1)
  const [asked] = await sessions.requests(id)
  if (asked?.request.kind !== 'permission') throw new Error('The demo agent did not ask')
  const allow = asked.request.options.find(({ kind }) => kind === 'allow_once')
  await sessions.answer(
    { id, requestId: asked.requestId },
    { outcome: 'selected', optionId: allow?.optionId ?? '' },
    ci,
  )
  await sessions.waitTurn(id, 1)
  const { ruleId } = await permissions.addRule({ sessionId: id }, { decision: 'allow', toolKind: 'edit' }, owner)
  await sessions.waitTurn(id, (await sessions.prompt(id, { prompt: 'ask two.txt' }, owner)).turn)
  await gateway.close()
  const lines = await linesOf(home)
  const about = lines.filter(({ kind }) => kind === 'tool')
  expect(about).toMatchObject([
    {
      session: id,
      turn: 1,
      toolKind: 'edit',
      status: 'completed',
      arguments: expect.stringContaining('one.txt') as string,
      approval: { by: { type: 'principal', name: 'ci' }, answer: 'allow_once' },
    },
    {
      turn: 2,
      status: 'completed',
      approval: { by: { type: 'policy', rule: expect.stringContaining(ruleId) as string } },
    },
  ])
  expect(lines.filter(({ kind }) => kind === 'request')).toMatchObject([
    { session: id, turn: 1, request: asked.requestId, by: { name: 'ci' }, answer: 'allow_once', toolKind: 'edit' },
    { session: id, turn: 2, by: { type: 'policy' } },
  ])
  expect(lines.find(({ action }) => action === 'answer')).toMatchObject({ session: id, principal: { name: 'ci' } })
})

/** As vendors make them; none opens anything. */
const SHAPES: readonly string[] = [
  'sk-ant-api03-',
  'sk-proj-',
  'sk-or-v1-',
  'gsk_',
  'xai-',
  'hf_',
  'r8_',
  'pplx-',
  'AIza',
  'AKIA',
  'ASIA',
  'ghp_',
  'gho_',
  'ghs_',
  'github_pat_',
  'glpat-',
  'npm_',
  'pypi-',
  'dckr_pat_',
  'xoxb-',
  'xapp-',
  'SG.',
  'sk_live_',
  'rk_live_',
  'whsec_',
  'shpat_',
  'dop_v1_',
  'eyJhbGciOiJIUzI1NiJ9.',
  'vault:v1:',
  'p"ss\\w/rd&',
  'lin_api_',
  '-----BEGIN\n',
].map((shape, at) => `${shape}${'q7Zk2Vb9Xw4Tn6Rm'.repeat(2)}${at}`)

test('no secret that is known is in a line, whatever it looks like and wherever it would be cut', async () => {
  const redactor = createRedactor()
  for (const secret of SHAPES) redactor.add(secret)
  const { log, home } = await openLog({ redact: (line) => redactor.redactJson(line) })
  const tools = new ToolAudit(log)
  const session = { sessionId: 's', turn: 1, ts: '', seq: 1 }
  const tokens = ['o', 't', 's'].map((kind) => `agp_${kind}_0123456789abcdef_${'a'.repeat(43)}`)
  const all = [...SHAPES, ...tokens]
  for (const [at, secret] of all.entries()) {
    log.write({
      kind: 'control',
      action: 'spawn',
      cwd: `/tmp/${secret}`,
      long: 'x'.repeat(500) + secret + 'x'.repeat(20_000),
    })
    const input = { command: `curl -H ${secret}`, near: 'x'.repeat(500) + secret, url: encodeURIComponent(secret) }
    const told = {
      type: 'tool-call',
      toolCallId: `${at}`,
      title: `${'x'.repeat(190)}${secret}`,
      input,
      ...session,
    } as const
    // As the registry gives it: what is stored has no known secret.
    tools.take([JSON.parse(redactor.redactJson(JSON.stringify(told))) as SessionEvent])
    tools.take([{ type: 'tool-result', toolCallId: `${at}`, status: 'completed', ...session }])
  }
  log.close()
  const text = await readFile(join(home, 'logs', 'audit.jsonl'), 'utf8')
  expect((await linesOf(home)).length).toBe(all.length * 2)
  expect(text).not.toContain('q7Zk2V')
  expect(text).not.toContain('0123456789abcdef')
})

test('an argument whose name says that it is a secret is left out, and a long one is cut', async () => {
  const { log, home } = await openLog()
  const tools = new ToolAudit(log)
  const session = { sessionId: 's', turn: 1, ts: '', seq: 1 }
  const input = {
    api_key: 'nobody knows it',
    headers: { Authorization: 'Basic eDp5' },
    max_tokens: 5,
    text: 'y'.repeat(9_000),
  }
  tools.take([{ type: 'tool-result', toolCallId: 'a', status: 'failed', kind: 'fetch', input, ...session }])
  tools.take([
    { type: 'tool-result', toolCallId: 'b', status: 'failed', input: Array.from('z'.repeat(9_000)), ...session },
  ])
  log.close()
  const [first, second] = await linesOf(home)
  expect(JSON.parse(String(first?.['arguments']))).toEqual({
    api_key: '[redacted]',
    headers: { Authorization: '[redacted]' },
    max_tokens: 5,
    text: `${'y'.repeat(512)}…`,
  })
  expect(first).toMatchObject({ status: 'failed', toolKind: 'fetch', call: 'a' })
  expect(String(second?.['arguments'])).toHaveLength(2_049)
})

test('a full file goes aside, in order, and of those there are only so many', async () => {
  const { log, home } = await openLog({ maxBytes: 1_024, files: 3 })
  for (let at = 0; at < 100; at++) log.write({ kind: 'control', action: 'prompt', at, filling: 'x'.repeat(40) })
  log.close()
  const folder = join(home, 'logs')
  expect((await readdir(folder)).toSorted()).toEqual(['audit.jsonl', 'audit.jsonl.1', 'audit.jsonl.2'])
  const texts = await Promise.all(['.2', '.1', ''].map((end) => readFile(join(folder, `audit.jsonl${end}`), 'utf8')))
  expect(texts.every((text) => Buffer.byteLength(text) <= 1_024)).toBe(true)
  const kept = texts
    .join('')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { at: number }).at)
  expect(kept).toEqual(kept.map((_, index) => 100 - kept.length + index))
})

test('a disk that refuses costs the lines alone, and is told of once', async () => {
  const problems: string[] = []
  const { log } = await openLog({ path: '/dev/null/no-folder/audit.jsonl', onProblem: (text) => problems.push(text) })
  const big = 'x'.repeat(10_000)
  for (let at = 0; at < 50; at++) log.write({ kind: 'control', action: 'prompt', big })
  log.close()
  log.write({ kind: 'control', action: 'after the end' })
  expect(problems).toEqual([expect.stringContaining('audit log')])
})

test('audit says whether there is one; a gateway in memory has none', async () => {
  const written = async (config: object, store: 'file' | 'memory' = 'file'): Promise<boolean> => {
    const home = await temporaryHome()
    await writeFile(join(home, 'config.json'), JSON.stringify(config))
    const gateway = await testGateway({ home, store })
    await gateway.tokens.create({ name: 'x', scope: 'read' }, owner)
    await gateway.close()
    return existsSync(join(home, 'logs', 'audit.jsonl'))
  }
  expect(await written({})).toBe(true)
  expect(await written({ audit: true })).toBe(true)
  expect(await written({ audit: false })).toBe(false)
  expect(await written({}, 'memory')).toBe(false)
})
