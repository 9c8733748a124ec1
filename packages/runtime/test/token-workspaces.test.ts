import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { homeLayout } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { openTokens } from '@agentproto/runtime'
import { servedGateway } from './fixtures/served-gateway.js'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

// 12.A8: a token is bound to the folders of its workspaces, not to their names.

async function opened() {
  const served = await servedGateway()
  const { call } = served
  const root = await realpath(await temporaryHome())
  for (const name of ['shop', 'bank', 'loose']) await mkdir(join(root, name))
  const at = (name: string): string => join(root, name)
  const add = async (slug: string, folder = slug): Promise<void> => {
    expect((await call('POST /workspaces', { path: at(folder), slug })).status).toBe(201)
  }
  const tokenOf = async (name: string, ...workspaces: string[]): Promise<string> =>
    String((await call('POST /tokens', { name, scope: 'operate', workspaces })).body['token'])
  const ids = async (token: string): Promise<readonly string[]> =>
    ((await call('GET /sessions', undefined, token)).body['sessions'] as { id: string }[]).map(({ id }) => id)
  const slugs = async (token: string): Promise<readonly string[]> =>
    ((await call('GET /workspaces', undefined, token)).body['workspaces'] as { slug: string }[]).map(({ slug }) => slug)
  return { ...served, at, add, tokenOf, ids, slugs }
}

test('12.A8 a slug that another folder has now gives the token of the first folder nothing, and the list says so', async () => {
  const { call, spawn, gateway, at, add, tokenOf, ids, slugs } = await opened()
  await add('shop')
  const token = await tokenOf('ci', 'shop')
  const mine = await spawn({ cwd: at('shop') })
  expect([await ids(token), await slugs(token)]).toEqual([[mine.id], ['shop']])
  await call('DELETE /workspaces/shop')
  expect(await gateway.tokens.list()).toMatchObject([{ name: 'ci', workspaces: ['shop'], lost: ['shop'] }])
  await add('shop', 'bank')
  const theirs = await spawn({ cwd: at('bank') })
  expect(theirs.workspaceSlug).toBe('shop')
  expect(await gateway.tokens.list()).toMatchObject([{ lost: ['shop'] }])
  // Its own sessions of before are still its own.
  expect([await ids(token), await slugs(token)]).toEqual([[mine.id], []])
  expect((await call(`GET /sessions/${theirs.id}`, undefined, token)).status).toBe(404)
  expect((await call(`POST /sessions/${theirs.id}/prompt`, { prompt: 'x' }, token)).status).toBe(404)
  for (const asked of [{ workspaceSlug: 'shop' }, {}])
    expect((await call('POST /sessions/agent', { adapter: 'demo', ...asked }, token)).body['code']).toBe(
      'workspace_not_found',
    )
  for (const cwd of [at('shop'), at('bank')])
    expect((await call('POST /sessions/agent', { adapter: 'demo', cwd }, token)).body['code']).toBe('cwd_not_allowed')
  // A token of the new workspace sees none of the old one's sessions.
  expect(await ids(await tokenOf('new', 'shop'))).toEqual([theirs.id])
  // The folder has its name again: so does the token.
  await call('DELETE /workspaces/shop')
  await add('shop')
  expect([await ids(token), await slugs(token)]).toEqual([[mine.id], ['shop']])
  expect((await gateway.tokens.list())[0]).not.toHaveProperty('lost')
})

test('12.A8 a session whose folder lost its workspace has none of that name’s rules, and makes none for it', async () => {
  const { call, spawn, gateway, at, add, turnEnded } = await opened()
  await add('shop')
  const { id } = await spawn({ cwd: at('shop') })
  await call('DELETE /workspaces/shop')
  await add('shop', 'bank')
  await call('POST /workspaces/shop/rules', { decision: 'allow', toolKind: 'edit' })
  await call(`POST /sessions/${id}/prompt`, { prompt: 'ask' })
  await expect.poll(async () => (await gateway.sessions.requests(id)).length).toBe(1)
  const [request] = await gateway.sessions.requests(id)
  if (request?.request.kind !== 'permission') throw new Error('no permission was requested')
  const { optionId } = request.request.options.find(({ kind }) => kind.startsWith('allow')) ?? {}
  const route = `POST /sessions/${id}/requests/${request.requestId}`
  expect((await call(route, { optionId, remember: 'workspace' })).body).toMatchObject({
    code: 'invalid_request',
    detail: expect.stringContaining('in no workspace'),
  })
  expect((await call(route, { optionId })).status).toBe(200)
  await turnEnded(id)
  expect((await call('GET /workspaces/shop/rules')).body['rules']).toHaveLength(1)
  // Resumed, it is where it is now.
  await call(`POST /sessions/${id}/kill`, {})
  expect((await call(`POST /sessions/${id}/resume`, { fresh: true })).body).toMatchObject({ workspaceSlug: 'default' })
})

test('12.A8 a token of a workspace that is not registered is refused with the known ones, also without a gateway', async () => {
  const { call, gateway, home, add } = await opened()
  const request = { name: 'ci', scope: 'operate', workspaces: ['nope'] } as const
  expect((await call('POST /tokens', request)).body).toMatchObject({ code: 'workspace_not_found', status: 404 })
  await add('shop')
  await add('bank')
  const unknown = { code: 'workspace_not_found', expected: 'one of shop, bank', given: 'nope', known: ['shop', 'bank'] }
  expect((await call('POST /tokens', request)).body).toMatchObject(unknown)
  expect((await call('POST /tokens', { ...request, workspaces: ['shop', 'default'] })).body['code']).toBe(
    'workspace_not_found',
  )
  expect(await gateway.tokens.list()).toEqual([])
  await gateway.close()
  await expect(openTokens({ home }).create(request)).rejects.toMatchObject({ code: 'workspace_not_found' })
  expect(await openTokens({ home }).create({ ...request, workspaces: ['shop'] })).toMatchObject({ name: 'ci' })
})

test('12.A8 a token of `default`, or one without folders, of an older version covers no session', async () => {
  const home = await temporaryHome()
  const { token } = await openTokens({ home }).create({ name: 'old', scope: 'operate' })
  const { tokens } = homeLayout(home)
  const stored = JSON.parse(await readFile(tokens, 'utf8')) as { tokens: Record<string, unknown>[] }
  const [entry] = stored.tokens
  await writeFile(tokens, JSON.stringify({ version: 1, tokens: [{ ...entry, workspaces: ['default', 'shop'] }] }))
  const gateway = await testGateway({ home })
  await gateway.sessions.spawn({ adapter: 'demo', cwd: home }, { type: 'owner', name: 'owner' })
  const answer = await gateway.app.request('/sessions', {
    headers: { authorization: `Bearer ${token}`, host: 'localhost' },
  })
  expect(await answer.json()).toMatchObject({ sessions: [] })
  expect(await gateway.tokens.list()).toMatchObject([{ name: 'old', lost: ['default', 'shop'] }])
})
