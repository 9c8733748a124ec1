import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Principal, SessionEvent } from '@agentproto/contracts'
import { createGateway, type Gateway, type GatewayHooks } from '@agentproto/runtime'
import { expect, onTestFinished, test, vi } from 'vitest'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

const me: Principal = { type: 'owner', name: 'me' }
const never = new Promise<never>(() => undefined)

interface Hooked extends Gateway {
  readonly cwd: string
  readonly problems: string[]
  /** Starts the demo agent, and says something to it. */
  start(prompt?: string): Promise<string>
  say(id: string, prompt: string): Promise<string>
}

async function hooked(hooks: GatewayHooks): Promise<Hooked> {
  const cwd = await temporaryHome()
  const problems: string[] = []
  const gateway = await testGateway({ home: cwd, hooks, onProblem: (problem) => problems.push(problem) })
  const { sessions } = gateway
  return Object.assign(gateway, {
    cwd,
    problems,
    start: async (prompt?: string) =>
      (await sessions.spawn({ adapter: 'demo', cwd, ...(prompt === undefined ? {} : { prompt }) }, me)).id,
    say: async (id: string, prompt: string) =>
      (await sessions.waitTurn(id, (await sessions.prompt(id, { prompt }, me)).turn)).text,
  })
}

test('beforeSpawn amends a session, sees who wants it, and a denial makes none', async () => {
  const seen: unknown[] = []
  const gateway = await hooked({
    beforeSpawn({ request, by }) {
      seen.push([request.label, by.name])
      if (request.label === 'no') return { deny: 'not today' }
      return { request: { ...request, title: 'By the hook', permissionMode: 'deny-all' } }
    },
  })
  const { sessions, cwd } = gateway
  const spawned = await sessions.spawn({ adapter: 'demo', cwd, label: 'yes' }, me)
  expect(spawned).toMatchObject({ title: 'By the hook', permissionMode: 'deny-all' })
  await expect(sessions.spawn({ adapter: 'demo', cwd, label: 'no' }, me)).rejects.toMatchObject({
    code: 'hook_stopped',
    message: expect.stringContaining('not today') as string,
    row: { status: 403 },
  })
  expect(seen).toEqual([
    ['yes', 'me'],
    ['no', 'me'],
  ])
  expect((await sessions.list()).sessions).toHaveLength(1)
  // Over HTTP it is the same.
  const headers = { authorization: `Bearer ${gateway.token}`, host: 'localhost', 'content-type': 'application/json' }
  const body = JSON.stringify({ adapter: 'demo', cwd, label: 'no' })
  const refused = await gateway.app.request('/sessions/agent', { method: 'POST', headers, body })
  expect([refused.status, await refused.json()]).toMatchObject([403, { code: 'hook_stopped' }])
})

test('a fork is a spawn', async () => {
  const gateway = await hooked({
    beforeSpawn: ({ forkOf }) => (forkOf ? { deny: `no fork of ${forkOf.id}` } : undefined),
  })
  const id = await gateway.start()
  await expect(gateway.sessions.fork(id, {}, me)).rejects.toMatchObject({
    code: 'hook_stopped',
    message: expect.stringContaining(id) as string,
  })
})

test('beforePrompt changes the prompt, and a denial starts no turn', async () => {
  const gateway = await hooked({
    async beforePrompt({ prompt, session }) {
      await Promise.resolve()
      const [block] = prompt
      if (block?.type !== 'text' || block.text === 'as it is') return undefined
      if (block.text === 'secret') return { deny: `not in ${session === undefined ? 'a spawn' : 'a session'}` }
      return { prompt: [{ type: 'text', text: block.text.toUpperCase() }] }
    },
  })
  const id = await gateway.start('hello')
  expect((await gateway.sessions.waitTurn(id, 1)).text).toBe('echo: HELLO')
  expect(await gateway.say(id, 'as it is')).toBe('echo: as it is')
  await expect(gateway.say(id, 'secret')).rejects.toMatchObject({
    message: expect.stringContaining('in a session') as string,
  })
  expect((await gateway.sessions.get(id)).turnCount).toBe(2)
  await expect(gateway.start('secret')).rejects.toMatchObject({
    message: expect.stringContaining('in a spawn') as string,
  })
  expect((await gateway.sessions.list()).sessions).toHaveLength(1)
})

test('F86 a hook and its turn go on when the request that began them is gone', async () => {
  let leave = (): void => undefined
  const gone = new Promise<void>((resolve) => (leave = resolve))
  const signals: AbortSignal[] = []
  const gateway = await hooked({
    async beforePrompt(_, { signal }) {
      signals.push(signal)
      await gone
      return { prompt: [{ type: 'text', text: 'stream 2' }] }
    },
  })
  const id = await gateway.start()
  const { url, token } = await gateway.listen({ port: 0 })
  const client = new AbortController()
  const request = fetch(`${url}/sessions/${id}/prompt`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'hello' }),
    signal: client.signal,
  })
  await expect.poll(() => signals.length, { timeout: 20_000 }).toBe(1)
  client.abort()
  await expect(request).rejects.toThrow('aborted')
  // One more request, so that the gateway has had the end of the first.
  expect((await fetch(`${url}/health`)).status).toBe(200)
  leave()
  await expect.poll(() => gateway.sessions.turns(id), { timeout: 20_000 }).toMatchObject([{ reason: 'end_turn' }])
  expect(signals.map(({ aborted }) => aborted)).toEqual([false])
})

test('a prompt that is denied with stop ends its session as hook_stopped', async () => {
  const gateway = await hooked({ beforePrompt: ({ session }) => session && { deny: 'out of money', stop: true } })
  const id = await gateway.start()
  await expect(gateway.say(id, 'hello')).rejects.toMatchObject({ code: 'hook_stopped' })
  await expect
    .poll(() => gateway.sessions.get(id), { timeout: 10_000 })
    .toMatchObject({
      status: 'killed',
      stopReason: 'hook_stopped',
      failure: { kind: 'permission_failure', summary: 'out of money' },
    })
})

test('onRequest answers before any mode does: it denies with a reason, it allows, it leaves it to others', async () => {
  const gateway = await hooked({
    onRequest({ request, session }) {
      expect(session.status).toBe('running')
      const title = request.kind === 'permission' ? request.toolCall.title : ''
      if (title?.includes('no.txt')) return { deny: 'never that file' }
      return title?.includes('yes.txt') ? { answer: { optionId: 'allow' } } : undefined
    },
  })
  const { sessions, cwd } = gateway
  const { id } = await sessions.spawn({ adapter: 'demo', cwd, permissionMode: 'approve-all' }, me)
  expect(await gateway.say(id, 'ask no.txt x')).toContain('not allowed')
  expect(await gateway.say(id, 'ask yes.txt x')).toContain('was allowed')
  expect(await gateway.say(id, 'ask other.txt x')).toContain('was allowed')
  expect(['no.txt', 'yes.txt', 'other.txt'].map((file) => existsSync(join(cwd, file)))).toEqual([false, true, true])
  const requests = await sessions.requests(id)
  expect(requests.map(({ answeredBy }) => answeredBy)).toEqual([
    { type: 'policy', rule: 'hook onRequest' },
    { type: 'policy', rule: 'hook onRequest' },
    { type: 'policy', rule: 'approve-all' },
  ])
  expect(requests[0]?.answer).toMatchObject({ reason: 'never that file' })
})

test('a request that is denied with stop ends the session with permission_failure', async () => {
  const gateway = await hooked({ onRequest: () => ({ deny: 'that is enough', stop: true }) })
  const id = await gateway.start('ask a.txt x')
  await expect
    .poll(() => gateway.sessions.get(id), { timeout: 10_000 })
    .toMatchObject({
      status: 'killed',
      stopReason: 'hook_stopped',
      failure: { kind: 'permission_failure', summary: 'that is enough' },
    })
  expect(existsSync(join(gateway.cwd, 'a.txt'))).toBe(false)
})

test('hooks that throw or hang: beforeSpawn and beforePrompt fail closed, a request goes to a person, each failure is reported', async () => {
  const gateway = await hooked({
    timeoutMs: 50,
    beforeSpawn: ({ request }) => {
      if (request.label === 'throw') throw new Error('broken spawn hook')
      return request.label === 'hang' ? never : undefined
    },
    beforePrompt: ({ prompt: [block] }) => (block?.type === 'text' && block.text === 'hang' ? never : undefined),
    onRequest: () => Promise.reject(new Error('broken request hook')),
    onEvent: () => Promise.reject(new Error('broken event hook')),
  })
  const { sessions, cwd, problems } = gateway
  for (const label of ['throw', 'hang'])
    await expect(sessions.spawn({ adapter: 'demo', cwd, label }, me)).rejects.toMatchObject({ code: 'hook_stopped' })
  const { id } = await sessions.spawn({ adapter: 'demo', cwd, permissionMode: 'approve-all' }, me)
  await expect(gateway.say(id, 'hang')).rejects.toMatchObject({ code: 'hook_stopped' })
  expect(await gateway.say(id, 'hello')).toBe('echo: hello')
  // No mode approves what the hook could not look at.
  const { turn } = await sessions.prompt(id, { prompt: 'ask a.txt x' }, me)
  await expect.poll(() => sessions.requests(id), { timeout: 10_000 }).toMatchObject([{ state: 'pending' }])
  const [asked] = await sessions.requests(id)
  await sessions.answer({ id, requestId: asked?.requestId ?? '' }, { outcome: 'selected', optionId: 'allow' }, me)
  expect((await sessions.waitTurn(id, turn)).text).toContain('was allowed')
  const reported = (name: string): boolean => problems.some((problem) => problem.includes(name))
  expect(
    [
      'broken spawn hook',
      'hook beforeSpawn: No answer within 50 ms',
      'hook beforePrompt',
      'broken request hook',
      'broken event hook',
    ].filter((name) => !reported(name)),
  ).toEqual([])
})

test('an answer that the request does not take leaves it to a person', async () => {
  const gateway = await hooked({ onRequest: () => ({ answer: { optionId: 'no such option' } }) })
  const id = await gateway.start('ask a.txt x')
  await expect.poll(() => gateway.sessions.requests(id), { timeout: 10_000 }).toMatchObject([{ state: 'pending' }])
})

test('a turn that is interrupted while a hook runs ends, and its request is dropped', async () => {
  let asked = false
  const gateway = await hooked({
    onRequest() {
      asked = true
      return never
    },
  })
  const id = await gateway.start('ask a.txt x')
  await vi.waitFor(() => expect(asked).toBe(true), { timeout: 10_000 })
  expect(await gateway.sessions.interrupt(id, me)).toEqual({ wasBusy: true })
  expect(await gateway.sessions.waitTurn(id, 1)).toMatchObject({ reason: 'cancelled' })
  expect(await gateway.say(id, 'hello')).toBe('echo: hello')
})

test('onEvent gets every event of every session once, in order, and delays no turn', async () => {
  const events: SessionEvent[] = []
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  const gateway = await hooked({
    async onEvent(event) {
      // It is slow from the very first event on.
      await held
      events.push(event)
    },
  })
  const [one, two] = [await gateway.start(), await gateway.start()]
  expect(await gateway.say(one, 'hello')).toBe('echo: hello')
  expect(await gateway.say(two, 'stream 200')).toContain('chunk 200')
  expect(events).toEqual([])
  release()
  const ends = (): number => events.filter(({ type }) => type === 'turn-end').length
  await vi.waitFor(() => expect(ends()).toBe(2), { timeout: 10_000 })
  await gateway.close()
  for (const id of [one, two]) {
    const seqs = events.filter(({ sessionId }) => sessionId === id).map(({ seq }) => seq)
    expect(seqs).toEqual(seqs.map((_, index) => index + 1))
    expect(events.findLast(({ sessionId }) => sessionId === id)).toMatchObject({ type: 'session-stopped' })
  }
})

test('onEvent gets no events from before the gateway’s start, and those of a session that is resumed', async () => {
  const home = await temporaryHome()
  const env = { ...process.env, AGENTPROTO_DEMO_HOME: home }
  const first = await createGateway({ home, cwd: home, env })
  const { id, resumable } = await first.sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'hello' }, me)
  expect(resumable).toBe(true)
  await first.sessions.waitTurn(id, 1)
  await first.close()
  const events: string[] = []
  const second = await createGateway({ home, cwd: home, env, hooks: { onEvent: ({ type }) => void events.push(type) } })
  onTestFinished(() => second.close())
  const { turn } = await second.sessions.prompt(id, { prompt: 'again' }, me)
  await second.sessions.waitTurn(id, turn)
  await vi.waitFor(() => expect(events).toContain('turn-end'), { timeout: 10_000 })
  expect(events[0]).toBe('status')
  expect(events.filter((type) => type === 'user-prompt')).toHaveLength(1)
})
