import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Principal, Session, SessionEvent, TurnResult } from '@agentproto/contracts'
import type { Gateway } from '@agentproto/runtime'
import { expect, test } from 'vitest'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

// W3C Trace Context from the caller to the agent, through all of the gateway.

const owner: Principal = { type: 'owner', name: 'owner' }
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const OTHER_ID = '0af7651916cd43dd8448eb211c80319c'
const spawning = { traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01`, tracestate: 'congo=t61rcWkgMzE' }
const prompting = { traceparent: `00-${OTHER_ID}-b7ad6b7169203331-00` }

const DEMO_ACP = new URL('../../adapters/catalog/demo/ACP.md', import.meta.url)

/** What the fixture agent received. */
interface Received {
  readonly environment: { readonly TRACEPARENT?: string; readonly TRACESTATE?: string }
  readonly opened: readonly (readonly [string, unknown])[]
  readonly meta?: Readonly<Record<string, unknown>>
}

const received = ({ text }: Pick<TurnResult, 'text'>): Received => JSON.parse(text) as Received

async function tracedGateway(protocol: 'acp' | 'mcp', home: string): Promise<Gateway> {
  const folder = join(home, 'more-adapters')
  const manifest = {
    name: 'traced',
    id: 'traced',
    description: 'An agent of this test.',
    version: '1.0.0',
    bin: 'traced',
    bin_args: [fileURLToPath(new URL('fixtures/traced-agent.mjs', import.meta.url)), protocol],
    install: [{ method: 'npm', package: 'traced' }],
    version_check: { cmd: 'traced --version', parse: '(\\d+\\.\\d+\\.\\d+)', range: '*' },
    sandbox: { provider: 'local' },
    session: { mode: 'resumable', context_carryover: true },
    continuation: { default: 'pinned-session', supported: ['pinned-session', 'native-resume'] },
    capabilities: {
      streaming: true,
      tool_calls: true,
      sub_agents: false,
      file_io: true,
      multimodal: false,
      resumable: true,
      bidirectional: true,
    },
    protocol,
    ...(protocol === 'mcp' ? { mcp: { transport: 'stdio' } } : { acp: './ACP.md' }),
  }
  await mkdir(join(folder, 'traced'), { recursive: true })
  await writeFile(join(folder, 'traced', 'AGENT-CLI.md'), `---\n${JSON.stringify(manifest)}\n---\n`)
  await copyFile(DEMO_ACP, join(folder, 'traced', 'ACP.md'))
  // The trace of the gateway's own start is not passed on.
  const env = { ...process.env, TRACEPARENT: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, TRACESTATE: 'own=1' }
  return testGateway({ home, env, adapters: [folder], executables: { traced: process.execPath } })
}

async function call<T>(gateway: Gateway, path: string, body: object, headers: object = {}): Promise<T> {
  const response = await gateway.app.request(path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.token}`,
      host: 'localhost',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(body),
  })
  expect(response.status).toBeLessThan(300)
  return (await response.json()) as T
}

const prompt = async (gateway: Gateway, id: string, headers: object = {}): Promise<Received> =>
  received((await call<{ result: TurnResult }>(gateway, `/sessions/${id}/prompt`, ASKING, headers)).result)
const ASKING = { prompt: 'what do you know?', wait: true }

const lines = async (home: string, file: string): Promise<readonly Record<string, unknown>[]> =>
  (await readFile(join(home, 'logs', file), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test('the headers of a spawn reach the environment and session/new, those of a prompt its session/prompt', async () => {
  const home = await temporaryHome()
  const gateway = await tracedGateway('acp', home)
  const spawn = { adapter: 'traced', cwd: home, prompt: 'first' }
  const { id } = await call<Session>(gateway, '/sessions/agent', spawn, spawning)
  const first = received(await gateway.sessions.waitTurn(id, 1))
  expect(first).toEqual({
    environment: { TRACEPARENT: spawning.traceparent, TRACESTATE: spawning.tracestate },
    opened: [['session/new', spawning]],
    meta: spawning,
  })
  expect(await prompt(gateway, id, prompting)).toMatchObject({ environment: first.environment, meta: prompting })
  expect((await prompt(gateway, id)).meta).toBeUndefined()
  // The next prompt wakes the agent: its trace is the start's too.
  await gateway.close()
  const next = await tracedGateway('acp', home)
  expect(await prompt(next, id, prompting)).toEqual({
    environment: { TRACEPARENT: prompting.traceparent },
    opened: [['session/resume', prompting]],
    meta: prompting,
  })
  await next.sessions.kill(id, owner)
  await call(next, `/sessions/${id}/resume`, {}, spawning)
  expect((await prompt(next, id)).opened).toEqual([['session/resume', spawning]])
})

test('what is not valid is dropped, and so is the trace in which the gateway was started', async () => {
  const home = await temporaryHome()
  const gateway = await tracedGateway('acp', home)
  const bad = { traceparent: spawning.traceparent.toUpperCase(), tracestate: 'a=1' }
  const { id } = await call<Session>(gateway, '/sessions/agent', { adapter: 'traced', cwd: home }, bad)
  expect(await prompt(gateway, id, bad)).toEqual({ environment: {}, opened: [['session/new', null]] })
})

test('a prompt that waits for its turn keeps its trace', async () => {
  const home = await temporaryHome()
  const gateway = await tracedGateway('acp', home)
  const { id } = await gateway.sessions.spawn({ adapter: 'traced', cwd: home, prompt: 'first' }, owner)
  const traced: Principal = { ...owner, trace: prompting }
  const { turn } = await gateway.sessions.prompt(id, { prompt: 'second', whenBusy: 'queue' }, traced)
  expect(received(await gateway.sessions.waitTurn(id, turn)).meta).toEqual(prompting)
})

test('an agent that is an MCP server gets it with each call of its tool', async () => {
  const home = await temporaryHome()
  const gateway = await tracedGateway('mcp', home)
  const { id } = await call<Session>(gateway, '/sessions/agent', { adapter: 'traced', cwd: home }, spawning)
  const { environment, meta } = await prompt(gateway, id, prompting)
  expect(environment.TRACEPARENT).toBe(spawning.traceparent)
  expect(meta).toEqual({ progressToken: expect.any(Number) as number, ...prompting })
})

test('_meta of a call of an MCP tool wins over the headers that brought it', async () => {
  const home = await temporaryHome()
  const gateway = await tracedGateway('acp', home)
  const tool = (name: string, args: object, meta: object): object => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args, _meta: meta },
  })
  const start = { adapter: 'traced', cwd: home, prompt: 'first' }
  const started = await gateway.app.request('/mcp', {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.token}`,
      host: 'localhost',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...prompting,
    },
    body: JSON.stringify(tool('start_agent_session', start, spawning)),
  })
  expect(await started.text()).toContain('running')
  const [session] = (await gateway.sessions.list()).sessions
  const id = session?.id ?? ''
  expect(received(await gateway.sessions.waitTurn(id, 1))).toMatchObject({ opened: [['session/new', spawning]] })
})

test('the trace is found in the log of events, the audit log and the gateway’s log', async () => {
  const home = await temporaryHome()
  const gateway = await tracedGateway('acp', home)
  const { id } = await call<Session>(gateway, '/sessions/agent', { adapter: 'traced', cwd: home }, spawning)
  await prompt(gateway, id, prompting)
  await call(gateway, `/sessions/${id}/kill`, {}, prompting)
  const { records } = await gateway.sessions.events(id, 0, 1_000)
  const events = records.map(({ json }) => JSON.parse(json) as SessionEvent)
  expect(events.find(({ type }) => type === 'user-prompt')).toMatchObject({ traceparent: prompting.traceparent })
  await gateway.close()
  expect(await lines(home, 'audit.jsonl')).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ action: 'spawn', session: id, traceId: TRACE_ID }),
      expect.objectContaining({ action: 'prompt', session: id, traceId: OTHER_ID }),
      expect.objectContaining({ action: 'kill', session: id, traceId: OTHER_ID }),
    ]),
  )
  expect(await lines(home, 'gateway.jsonl')).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ msg: 'agent starts', sessionId: id, traceId: TRACE_ID }),
      expect.objectContaining({ msg: 'prompt', sessionId: id, turn: 1, traceId: OTHER_ID }),
    ]),
  )
})
