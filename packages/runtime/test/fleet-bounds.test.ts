import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Principal } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { PATIENT, twoHosts } from './fixtures/two-hosts.js'

const owner: Principal = { type: 'owner', name: 'owner' }

test(
  '17.R5 a token that is bound to a workspace of one host reaches no session of another one',
  needs('nats-server'),
  async () => {
    const { a, b } = await twoHosts()
    const folder = join(b.home, 'shop')
    await mkdir(folder)
    await b.workspaces.add({ slug: 'shop', path: folder }, owner)
    // The other host has a workspace of the same name.
    const far = join(a.home, 'shop')
    await mkdir(far)
    await a.workspaces.add({ slug: 'shop', path: far }, owner)
    const { id } = await a.sessions.spawn({ adapter: 'demo', workspaceSlug: 'shop', label: 'hidden' }, owner)
    await a.sessions.prompt(id, { prompt: 'hidden words' }, owner)
    await expect.poll(async () => (await b.sessions.list()).sessions.map((each) => each.id), PATIENT).toEqual([id])
    const { token } = await b.tokens.create({ name: 'shop', scope: 'operate', workspaces: ['shop'] }, owner)
    const { url } = await b.listen({ port: 0 })
    const ask = async (method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> => {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, text: await response.text() }
    }
    for (const [method, path, body] of ONE_SESSION) {
      const { status, text } = await ask(method, path.replace(':id', id), body)
      expect([method, path, status, text.includes('hidden')]).toEqual([method, path, 404, false])
    }
    for (const path of ['/sessions', '/sessions?host=a', '/requests', '/search?q=hidden', '/usage?by=session']) {
      const { status, text } = await ask('GET', path)
      expect([path, status, text.includes(id)]).toEqual([path, 200, false])
    }
    expect((await a.sessions.get(id)).turnCount).toBe(1)
    const started = await ask('POST', '/sessions', { adapter: 'demo', workspaceSlug: 'shop', on: 'a' })
    expect(started.status).toBeGreaterThanOrEqual(400)
    expect((await a.sessions.list()).sessions).toHaveLength(1)
  },
)

const ONE_SESSION: readonly (readonly [string, string, unknown?])[] = [
  ['GET', '/sessions/:id'],
  ['GET', '/sessions/:id/turns'],
  ['GET', '/sessions/:id/turns/1'],
  ['GET', '/sessions/:id/output'],
  ['GET', '/sessions/:id/events'],
  ['GET', '/sessions/:id/requests'],
  ['GET', '/sessions/:id/rules'],
  ['GET', '/sessions/:id/changes'],
  ['GET', '/sessions/:id/changes/diff'],
  ['GET', '/sessions/:id/export?format=md'],
  ['POST', '/sessions/:id/prompt', { prompt: 'hello' }],
  ['POST', '/sessions/:id/kill', {}],
  ['POST', '/sessions/:id/fork', {}],
  ['POST', '/sessions/:id/interrupt', {}],
]
