import { existsSync } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Principal } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

const owner: Principal = { type: 'owner', name: 'owner' }
const ci: Principal = { type: 'token', name: 'ci', scope: 'operate' }
type Line = Readonly<Record<string, unknown>>

const linesOf = async (home: string): Promise<readonly Line[]> =>
  (await readFile(join(home, 'logs', 'audit.jsonl'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)

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
  await expect(sessions.kill('unknown', ci)).rejects.toMatchObject({ code: 'session_not_found' })
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
  const written = lines.map(({ principal, action, session, outcome }) => [
    (principal as Principal).name,
    action,
    session === id ? 'it' : session,
    outcome,
  ])
  expect(written.slice(0, 9)).toEqual([
    ['owner', 'spawn', 'it', 'ok'],
    ['ci', 'prompt', 'it', 'ok'],
    ['ci', 'spawn', undefined, 'hook_stopped'],
    ['ci', 'kill', 'unknown', 'session_not_found'],
    ['ci', 'rule-add', 'it', 'ok'],
    ['ci', 'rule-remove', 'it', 'ok'],
    ['ci', 'interrupt', 'it', 'ok'],
    ['owner', 'kill', 'it', 'ok'],
    ['owner', 'forget', 'it', 'ok'],
  ])
  expect(written.slice(9).map(([name, action]) => [name, action])).toEqual(
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
