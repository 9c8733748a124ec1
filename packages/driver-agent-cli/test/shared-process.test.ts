import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { realpathSync } from 'node:fs'
import { launchAgent, SharedProcesses } from '@agentproto/driver-agent-cli'
import type { AgentHost } from '@agentproto/driver-agent-cli'
import type { AgentSignal, RunningAgent, StartAgentOptions } from '@agentproto/contracts/agent'
import { environmentOf, findMarkedProcesses, identify } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { document, host, small } from './small-agent.ts'

const agentFile = fileURLToPath(new URL('fixtures/several.mjs', import.meta.url))
const manifest = { ...small().manifest, metadata: { agentproto: { process: 'shared' } } }

const sharing = (): AgentHost => ({
  ...host,
  executables: { [document.bin ?? '']: agentFile },
  sharedProcesses: new SharedProcesses(),
})

interface Member {
  readonly agent: RunningAgent
  readonly signals: AgentSignal[]
  say(text: string): Promise<string>
}

let ids = 0

async function member(on: AgentHost, more: Partial<StartAgentOptions> = {}): Promise<Member> {
  const signals: AgentSignal[] = []
  const agent = await launchAgent(manifest, {
    sessionId: `ses_shared_${process.pid}_${ids++}`,
    adapterSlug: 'small',
    cwd: process.cwd(),
    additionalDirectories: [],
    mcpServers: [],
    origin: { how: 'new' },
    env: {},
    signal: new AbortController().signal,
    ...more,
    sink: { emit: (batch) => void signals.push(...batch), ask: async () => ({ outcome: 'cancelled' }) },
    host: on,
  })
  onTestFinished(async () => void (await agent.stop()))
  const say = async (text: string): Promise<string> => {
    const from = signals.length
    await agent.send([{ type: 'text', text }])
    return signals
      .slice(from)
      .flatMap((each) => (each.type === 'text-delta' ? [each.text] : []))
      .join('')
  }
  return { agent, signals, say }
}

const pending = (promise: Promise<unknown>): Promise<unknown> =>
  Promise.race([promise, new Promise((resolve) => setTimeout(() => resolve('pending'), 50))])

test('sessions of one launch share a process, each in its own folder; another launch has its own', async () => {
  const on = sharing()
  const [a, b] = await Promise.all([member(on), member(on, { cwd: realpathSync(tmpdir()) })])
  const other = await member(on, { mode: 'plan' })
  expect(a.agent.process?.pid).toBe(b.agent.process?.pid)
  expect(other.agent.process?.pid).not.toBe(a.agent.process?.pid)
  expect(await a.say('cwd')).toBe(process.cwd())
  expect(await b.say('cwd')).toBe(realpathSync(tmpdir()))
  const secret = await member(on, { env: { TOKEN_OF_A_SESSION: 'x' } })
  expect(secret.agent.process?.pid).not.toBe(a.agent.process?.pid)
})

test('the end of one session leaves its siblings alone, also in the middle of a turn; the last one ends the process', async () => {
  const on = sharing()
  const [a, b, deaf] = [await member(on), await member(on), await member(on)]
  const { pid, startTime } = a.agent.process ?? { pid: 0, startTime: '' }
  expect(await b.say('something')).toBe('something')
  const turn = deaf.agent.send([{ type: 'text', text: 'deaf' }])
  const hanging = a.agent.send([{ type: 'text', text: 'hang' }])
  expect(await a.agent.stop()).toEqual({})
  await hanging
  expect(a.signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'cancelled' })
  expect(await deaf.agent.stop()).toEqual({})
  await turn
  expect(deaf.signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'cancelled' })
  // It is closed in the agent, and its late updates are dropped.
  expect(await b.say('open')).toBe('s2')
  expect(await b.say('recall')).toBe('something')
  expect(b.signals.filter(({ type }) => type === 'extension')).toEqual([])
  expect(await pending(a.agent.ended)).toBe('pending')
  expect(identify(pid)?.startTime).toBe(startTime)
  expect(await b.agent.stop()).toEqual({ exitCode: 0 })
  expect(identify(pid)).toBeUndefined()
  const next = await member(on)
  expect(next.agent.process?.pid).not.toBe(pid)
})

test('a crash ends every session of the process, each with its own record', async () => {
  const on = sharing()
  const [a, b, gone] = [await member(on), await member(on), await member(on)]
  await gone.agent.stop()
  await a.say('crash')
  expect(await a.agent.ended).toMatchObject({ cause: 'exit', exitCode: 7, duringTurn: true })
  expect(await b.agent.ended).toMatchObject({ cause: 'exit', exitCode: 7, duringTurn: false })
  expect(await pending(gone.agent.ended)).toBe('pending')
  expect(a.signals.slice(-2)).toMatchObject([{ type: 'error' }, { type: 'turn-end', reason: 'error' }])
  expect(b.signals).toEqual([])
  expect((await member(on)).agent.process?.pid).not.toBe(a.agent.process?.pid)
})

test('an aborted start leaves the process to other starts that wait for it, and ends it when there are none', async () => {
  const on = { ...sharing(), executables: { [document.bin ?? '']: agentFile } }
  const slow = { ...manifest, binArgs: ['--slow'] }
  // Other tests have such processes at the same time.
  const env = { SMALL_TEST: crypto.randomUUID() }
  const starting = (signal: AbortSignal): Promise<RunningAgent> =>
    launchAgent(slow, {
      sessionId: 'ses_waiting',
      adapterSlug: 'small',
      cwd: process.cwd(),
      additionalDirectories: [],
      mcpServers: [],
      origin: { how: 'new' },
      env,
      signal,
      sink: { emit: () => {}, ask: async () => ({ outcome: 'cancelled' }) },
      host: on,
    })
  const [first, alone] = [new AbortController(), new AbortController()]
  const [given, kept] = [starting(first.signal), starting(new AbortController().signal)]
  setTimeout(() => first.abort(), 50)
  await expect(given).rejects.toMatchObject({ code: 'cancelled' })
  const agent = await kept
  const pid = agent.process?.pid ?? 0
  expect(identify(pid)).toBeDefined()
  await agent.stop()
  const lonely = starting(alone.signal)
  setTimeout(() => alone.abort(), 50)
  await expect(lonely).rejects.toMatchObject({ code: 'cancelled' })
  const shared = findMarkedProcesses().filter(({ marker }) => marker.startsWith('shared_'))
  expect(shared.filter((each) => environmentOf(each)?.['SMALL_TEST'] === env.SMALL_TEST)).toEqual([])
})

test('F43 descendants carry the marker of the process, which its sessions know', async () => {
  const on = sharing()
  const [a, b] = [await member(on), await member(on)]
  const marker = await a.say('marker')
  expect(marker).toMatch(/^shared_/)
  expect([a.agent.process?.marker, b.agent.process?.marker]).toEqual([marker, marker])
  const orphan = Number(await b.say('orphan'))
  expect(findMarkedProcesses(marker).map(({ pid }) => pid)).toContain(orphan)
  await b.agent.stop()
  expect(identify(orphan)).toBeDefined()
  await a.agent.stop()
  expect(identify(orphan)).toBeUndefined()
})
