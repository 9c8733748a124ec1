import type { Principal } from '@agentproto/contracts'
import type { Gateway } from '@agentproto/runtime'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.js'
import { knows, twoHosts } from './fixtures/two-hosts.js'

const owner: Principal = { type: 'owner', name: 'owner' }

/** What ended, in any order: the texts of streams, and the statuses of waits. */
interface Open {
  readonly name: string
  readonly ended: Promise<string>
}

const headersOf = (token: string, accept: string) => ({
  host: 'localhost',
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
  accept,
})

/** Everything that a token can have open on a session whose turn never ends. */
function openAll({ app }: Gateway, token: string, id: string): readonly Open[] {
  const ask = async (path: string, { accept = 'application/json', body }: { accept?: string; body?: object } = {}) => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    return app.request(`http://localhost${path}`, { headers: headersOf(token, accept), ...sent })
  }
  const stream = async (path: string): Promise<string> => {
    const answer = await ask(path, { accept: 'text/event-stream' })
    await answer.text()
    return `stream ${answer.status}`
  }
  const wait = async (path: string, body?: object): Promise<string> => {
    const answer = await ask(path, body === undefined ? {} : { body })
    const { code } = (await answer.json()) as { readonly code?: string }
    return `${answer.status} ${code}`
  }
  const tool = async (name: string, args: object): Promise<string> => {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
    const answer = await ask('/mcp', { accept: 'application/json, text/event-stream', body })
    return String(/\\"code\\":\\"(\w+)\\"/.exec(await answer.text())?.[1])
  }
  const all: Readonly<Record<string, Promise<string>>> = {
    events: stream(`/sessions/${id}/events`),
    lines: stream(`/sessions/${id}/stream`),
    list: stream('/events'),
    turn: wait(`/sessions/${id}/turns/1?waitSeconds=120`),
    prompt: wait(`/sessions/${id}/prompt`, { prompt: 'more', whenBusy: 'queue', wait: true }),
    wait_agent_turn: tool('wait_agent_turn', { sessionId: id, turn: 1, timeoutSeconds: 45 }),
    wait_for_sessions: tool('wait_for_sessions', { sessionIds: [id], timeoutSeconds: 45 }),
  }
  return Object.entries(all).map(([name, ended]) => ({ name, ended }))
}

const ENDED = {
  events: 'stream 200',
  lines: 'stream 200',
  list: 'stream 200',
  turn: '401 unauthorized',
  prompt: '401 unauthorized',
  wait_agent_turn: 'unauthorized',
  wait_for_sessions: 'unauthorized',
}

test(
  '17.7 all that a token has open ends with it, on a session of another host as on one of this host',
  needs('nats-server'),
  async () => {
    const { a, b } = await twoHosts()
    const hang = { adapter: 'demo', prompt: 'hang' } as const
    const far = await a.sessions.spawn({ ...hang, cwd: a.home }, owner)
    const near = await b.sessions.spawn({ ...hang, cwd: b.home }, owner)
    await knows(b, far.id)
    for (const end of ['revoked', 'rotated', 'expired'] as const) {
      const expiresAt = end === 'expired' ? { expiresAt: new Date(Date.now() + 4_000).toISOString() } : {}
      const { token } = await b.tokens.create({ name: end, scope: 'operate', ...expiresAt }, owner)
      const open = [near.id, far.id].map((id) => openAll(b, token, id))
      const settled: string[] = []
      for (const each of open.flat()) void each.ended.then(() => settled.push(each.name))
      // Each wait is there when the queued prompts are.
      const queued = async (id: string): Promise<number> => (await b.sessions.get(id)).queuedPrompts ?? 0
      const before = end === 'revoked' ? 1 : end === 'rotated' ? 2 : 3
      for (const { id } of [near, far]) await expect.poll(() => queued(id), { timeout: 10_000 }).toBe(before)
      expect(settled).toEqual([])
      if (end === 'revoked') await b.tokens.revoke(end, owner)
      if (end === 'rotated') await b.tokens.rotate(end, owner)
      for (const each of open) {
        const results = await Promise.all(each.map(async ({ name, ended }) => [name, await ended] as const))
        expect(Object.fromEntries(results)).toEqual(ENDED)
      }
    }
  },
)
