import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Session } from '@agentproto/contracts'
import { expect, test, vi } from 'vitest'
import { cli, folder, serve, withoutKeeper } from './cli-process.js'
import { ownAgent } from './own-agent.js'

interface Running {
  readonly home: string
  readonly cwd: string
  readonly url: string
  start(...more: string[]): Promise<string>
  say(id: string, prompt: string): Promise<string>
  list(): Promise<Session[]>
  /** With the owner's token, or another. */
  ask(
    path: string,
    init?: { readonly method?: string; readonly token?: string },
  ): Promise<{ status: number; body: { readonly code?: string } }>
}

interface Options {
  readonly stdioOnly?: boolean
  /** Of a gateway that runs already, and its url. */
  readonly home?: string
  readonly url?: string
  readonly cwd?: string
}

async function running(options: Options = {}): Promise<Running> {
  const { home = folder(), cwd = folder('work'), stdioOnly = false } = options
  const agent = stdioOnly ? 'own' : 'demo'
  const { url = (await serve(home)).url } = options
  const owner = readFileSync(join(home, 'token'), 'utf8').trim()
  const run = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await cli(args, { home, cwd })
    if (code !== 0) throw new Error(`agentproto ${args.join(' ')} exited with ${code}: ${stderr}`)
    return stdout.trim()
  }
  if (stdioOnly) {
    await ownAgent(home, { flags: ['--mcp-stdio-only'] })
    await run('adapters', 'install', 'own')
  }
  return {
    home,
    cwd,
    url,
    start: (...more) => run('sessions', 'start', agent, '--cwd', cwd, ...more),
    say: (id, prompt) => run('sessions', 'prompt', id, prompt, '--wait'),
    list: async () => JSON.parse(await run('sessions', '--json')).sessions,
    async ask(path, { method = 'GET', token = owner } = {}) {
      const response = await fetch(`${url}${path}`, { method, headers: { authorization: `Bearer ${token}` } })
      return { status: response.status, body: (await response.json()) as { code?: string } }
    },
  }
}

test('an agent starts another one with its tools, prompts it twice and reads its answers', async () => {
  const { start, say, list } = await running()
  const id = await start('--delegate')
  const said = await say(id, 'delegate the word is heron | recall')
  expect(said).toMatch(/^s_\S+ said: echo: the word is heron\ns_\S+ said: 1: the word is heron$/)
  const [child] = (await list()).filter(({ parentSessionId }) => parentSessionId === id)
  expect(child).toMatchObject({
    type: 'spawned',
    rootSessionId: id,
    depth: 1,
    turnCount: 2,
    status: 'killed',
    resumable: false,
    expiresAt: expect.any(String),
  })
})

test('an agent without MCP over HTTP gets the same tools from a program, whose arguments contain no secret', async () => {
  const { home, start, say, list } = await running({ stdioOnly: true })
  const id = await start('--delegate')
  const parent = (await list())[0]
  expect(parent).toMatchObject({ agent: { capabilities: { mcpHttp: false } }, warnings: [] })
  const said = await say(id, 'delegate the word is heron | recall')
  expect(said).toMatch(/^s_\S+ said: echo: the word is heron\ns_\S+ said: 1: the word is heron$/)
  const child = JSON.parse(await say(id, 'call start_agent_session {"adapter":"own","label":"helper"}'))
  expect(child).toMatchObject({ parentSessionId: id, depth: 1 })
  expect(await say(child.id, 'call start_agent_session {"adapter":"own"}')).toContain('max_depth_exceeded')
  const refused = await say(id, 'call start_agent_session {"adapter":"own","permissionMode":"approve-all"}')
  expect(JSON.parse(refused.slice(refused.indexOf('{')))).toMatchObject({ code: 'delegation_denied', status: 403 })
  // The program runs while it is used: checked while it waits for a turn that does not end.
  await say(id, `call prompt_agent_session {"sessionId":"${child.id}","prompt":"hang"}`)
  const waiting = cli(['sessions', 'prompt', id, `call wait_agent_turn {"sessionId":"${child.id}"}`], { home })
  const argv = await vi.waitFor(async () => {
    const found = (await commandLinesOf(id)).find((words) => words.at(-1) === 'mcp')
    expect(found).toBeDefined()
    return found ?? []
  }, 20_000)
  expect(argv.join(' ')).not.toContain('agp_')
  expect((await waiting).code).toBe(0)
  expect((await cli(['sessions', 'kill', id], { home })).code).toBe(0)
  expect(await commandLinesOf(id)).toEqual([])
})

test('without a grant a spawn is refused and creates nothing', async () => {
  const { cwd, start, say, list } = await running()
  const plain = await start()
  expect(await say(plain, 'delegate hello')).toBe('I was given no tools of a gateway.')
  const id = await start('--delegate')
  const refusal = async (input: object): Promise<unknown> => {
    const said = await say(id, `call start_agent_session ${JSON.stringify({ adapter: 'demo', ...input })}`)
    return JSON.parse(said.slice(said.indexOf('{'))).code
  }
  expect(await refusal({ cwd: join(cwd, '..') })).toBe('cwd_outside_parent')
  expect(await refusal({ permissionMode: 'approve-all' })).toBe('delegation_denied')
  expect(await refusal({ adapter: 'opencode' })).toBe('delegation_denied')
  expect(await list()).toHaveLength(2)
  const child = JSON.parse(await say(id, 'call start_agent_session {"adapter":"demo"}'))
  expect(await say(child.id, 'call start_agent_session {"adapter":"demo"}')).toContain('max_depth_exceeded')
  for (let more = 2; more <= 5; more++) await say(id, 'call start_agent_session {"adapter":"demo"}')
  expect(await refusal({})).toBe('child_quota_exceeded')
  expect(await list()).toHaveLength(7)
})

test('F41 an agent sees itself and its children, drives only its children, and they end with it', async () => {
  const { home, url, start, say, list, ask } = await running()
  const other = await start('--label', 'other')
  const id = await start('--delegate', '--label', 'lead')
  const child = JSON.parse(await say(id, 'call start_agent_session {"adapter":"demo","label":"helper"}'))
  const { sessions } = JSON.parse(await say(id, 'call list_agent_sessions'))
  expect(new Set(sessions.map((each: Session) => each.id))).toEqual(new Set([id, child.id]))
  for (const tool of ['prompt_agent_session', 'kill_agent_session'])
    for (const sessionId of [id, other])
      expect(await say(id, `call ${tool} ${JSON.stringify({ sessionId, prompt: 'x' })}`)).toMatch(
        /session_not_found|invalid/,
      )

  const tree = (await cli(['sessions', '--tree'], { home })).stdout
  expect(tree).toMatch(new RegExp(`^${id} .*lead\\n└─ ${child.id} .*helper$`, 'm'))

  // The agent's own variables: the token allows what the tools allow.
  const token = /AGENTPROTO_TOKEN=(agp_s_[\w-]+)/.exec(await environOf(id))?.[1] ?? ''
  expect((await ask(`/sessions/${id}`, { token })).status).toBe(200)
  expect((await ask(`/sessions/${other}`, { token })).body.code).toBe('session_not_found')
  expect((await ask(`/sessions/${id}/kill`, { token, method: 'POST' })).body.code).toBe('session_not_found')
  expect((await ask('/tokens', { token })).body.code).toBe('forbidden')

  // The token is redacted in its output.
  await say(id, 'run env')
  const { body } = await ask(`/sessions/${id}/events?limit=1000`)
  expect(JSON.stringify(body)).toContain('AGENTPROTO_TOKEN=[redacted]')
  expect(JSON.stringify(body)).not.toContain(token)

  expect((await ask(`/sessions/${id}/kill`, { method: 'POST' })).body).toEqual({ ok: true, id })
  expect((await list()).find((each) => each.id === child.id)).toMatchObject({
    status: 'killed',
    stopReason: 'user_canceled',
  })
  expect((await ask(`/sessions/${id}`, { token })).status).toBe(401)
  expect(url).toMatch(/^http:/)
})

test('no child survives a parent or a gateway that is killed', async () => {
  const home = withoutKeeper(folder())
  const gateway = await serve(home)
  const { start, say, list, cwd } = await running({ home, url: gateway.url })
  const birth = async (label: string): Promise<{ parent: string; child: string }> => {
    const parent = await start('--delegate', '--label', label)
    const child = JSON.parse(await say(parent, 'call start_agent_session {"adapter":"demo"}')).id as string
    await say(parent, `call prompt_agent_session {"sessionId":"${child}","prompt":"stream 1; hang"}`)
    return { parent, child }
  }
  const one = await birth('one')
  process.kill((await marked(one.parent))[0]?.pid ?? 0, 'SIGKILL')
  const ends = async (ids: readonly string[]): Promise<unknown[]> =>
    (await list()).filter(({ id }) => ids.includes(id)).map(({ status, stopReason }) => [status, stopReason])
  await expect
    .poll(() => ends([one.parent, one.child]), { timeout: 30_000 })
    .toEqual([
      ['killed', 'shutdown'],
      // It was in no turn.
      ['exited', 'agent_crashed'],
    ])
  expect([await marked(one.parent), await marked(one.child)]).toEqual([[], []])

  const two = await birth('two')
  const token = /AGENTPROTO_TOKEN=(agp_s_[\w-]+)/.exec(await environOf(two.parent))?.[1] ?? ''
  gateway.child.kill('SIGKILL')
  await gateway.ended
  const next = await running({ home, url: (await serve(home)).url, cwd })
  expect([await marked(two.parent), await marked(two.child)]).toEqual([[], []])
  const [child, parent] = (await next.list()).filter(({ id }) => id === two.child || id === two.parent)
  expect(child).toMatchObject({ id: two.child, status: 'error', stopReason: 'agent_crashed', resumable: false })
  expect(parent).toMatchObject({ id: two.parent, status: 'error', stopReason: 'agent_crashed', resumable: true })
  expect((await next.ask(`/sessions/${two.parent}`, { token })).status).toBe(401)
  // The next prompt resumes the parent, with its grant and without a live child.
  const resumedChild = JSON.parse(await next.say(two.parent, 'call start_agent_session {"adapter":"demo"}'))
  expect(resumedChild).toMatchObject({ parentSessionId: two.parent, status: 'running' })
})

async function marked(id: string): Promise<readonly { readonly pid: number }[]> {
  const { findMarkedProcesses } = await import('@agentproto/subprocess')
  return findMarkedProcesses(id)
}

/** The command lines of all processes with the marker of a session. */
async function commandLinesOf(id: string): Promise<string[][]> {
  return (await marked(id)).flatMap(({ pid }) => {
    try {
      return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean)]
    } catch {
      return []
    }
  })
}

/** The environment of the process with the marker of a session. */
async function environOf(id: string): Promise<string> {
  const [found] = await marked(id)
  return readFileSync(`/proc/${found?.pid}/environ`, 'utf8').replaceAll('\0', '\n')
}
