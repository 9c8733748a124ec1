import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomId } from '@agentproto/contracts'
import type { AgentSignal, RunningAgent } from '@agentproto/contracts/agent'
import { defineAgentCli, launchAgent } from '@agentproto/driver-agent-cli'
import type { LaunchOptions } from '@agentproto/driver-agent-cli'
import { findMarkedProcesses } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { document, host, small } from './small-agent.ts'
import { findProgram } from '../../../tooling/programs.mjs'

// Not only there: containers and hardened kernels often refuse what it needs.
const hasBubblewrap = findProgram('bwrap') !== undefined
const { manifest } = small()
const BARE = manifest.sandbox.from === 'inline' ? manifest.sandbox.profile : undefined

function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'driver-sandbox-')))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

interface Launched {
  readonly agent: RunningAgent
  readonly sessionId: string
  /** What it said so far. */
  readonly said: () => string
  readonly signals: readonly AgentSignal[]
}

async function launch(sandbox: object, more: Partial<LaunchOptions> = {}): Promise<Launched> {
  const signals: AgentSignal[] = []
  const sessionId = randomId('ses_')
  const agent = await launchAgent(manifest, {
    sessionId,
    adapterSlug: 'small',
    cwd: folder(),
    additionalDirectories: [],
    mcpServers: [],
    origin: { how: 'new' },
    env: {},
    signal: new AbortController().signal,
    sink: { emit: (batch) => void signals.push(...batch), ask: async () => ({ outcome: 'cancelled' }) },
    host,
    sandbox: { ...BARE, ...sandbox } as NonNullable<LaunchOptions['sandbox']>,
    ...more,
  })
  onTestFinished(async () => void (await agent.stop()))
  const said = (): string => signals.flatMap((each) => ('text' in each ? [each.text] : [])).join('')
  return { agent, sessionId, said, signals }
}

const MOUNTS = { mounts: [{ source: 'workspace', at: '/workspace', mode: 'read-write' }] }

test('a bare local profile is reported as not enforced', async () => {
  const { agent } = await launch({})
  const reason = 'the manifest asks for no confinement'
  expect(agent.sandbox).toEqual({ provider: 'local', enforced: false, reason })
  expect(agent.warnings).toEqual([])
})

test('F82 an agent that asks for it is confined, and says so truthfully', async () => {
  const { agent, said } = await launch(MOUNTS)
  expect(agent.sandbox).toMatchObject({ provider: 'local', enforced: hasBubblewrap })
  await agent.send([{ type: 'text', text: 'start' }])
  const { env, cwd } = JSON.parse(said()) as { env: Record<string, string>; cwd: string }
  expect([env['FROM_SANDBOX'], existsSync(cwd)]).toEqual(['yes', true])
})

test('F22 a stubborn agent and its grandchild in a session of its own are gone from the sandbox too', async () => {
  const { agent, sessionId, said } = await launch({ ...MOUNTS, network: { egress: ['example.test'], ingress: [] } })
  void agent.send([{ type: 'text', text: 'stubborn' }])
  await expect.poll(said).toMatch(/^\[\d+,\d+\]$/)
  const ofSession = () => findMarkedProcesses().filter(({ marker }) => marker === sessionId)
  expect(ofSession().length).toBeGreaterThanOrEqual(2)
  await agent.stop()
  expect(ofSession()).toEqual([])
})

test('limits.timeout_ms ends an agent and its turn as a timeout, after a word to the user', async () => {
  const { agent, said, signals } = await launch({ limits: { timeoutMs: 500 } })
  await agent.send([{ type: 'text', text: 'hang' }])
  expect(signals).toContainEqual({ type: 'turn-end', reason: 'timeout', empty: true })
  const message = expect.stringContaining('limits.timeout_ms') as string
  expect(await agent.ended).toMatchObject({ cause: 'timeout', signal: 'SIGTERM', message })
  expect(said()).toContain('limits.timeout_ms')
})

test('an agent that ends before limits.timeout_ms ends as it does otherwise', async () => {
  const { agent, signals } = await launch({ limits: { timeoutMs: 60_000 } })
  await agent.send([{ type: 'text', text: 'mode' }])
  await agent.stop()
  expect(signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'end_turn' })
  expect(JSON.stringify(signals)).not.toContain('limits.timeout_ms')
})

test('F28 what is missing is named as such although another program would start it', async () => {
  const executables = { 'small-agent': '/bin' }
  await expect(launch(MOUNTS, { host: { ...host, executables } })).rejects.toMatchObject({
    code: 'agent_not_installed',
  })
})

test('read_only and a provider that is not here refuse the start', async () => {
  await expect(launch({ readOnly: true })).rejects.toMatchObject({ code: 'sandbox_read_only' })
  await expect(launch({ provider: 'mastra-modal' })).rejects.toMatchObject({ code: 'sandbox_unavailable' })
})

test('12.C1 a profile that only limits programs is not taken for one that asks for nothing', async () => {
  const { agent } = await launch({ exec: { allow: false, spawn: [] } })
  expect(agent.sandbox).toMatchObject({ enforced: false, reason: expect.stringMatching(/exec|bubblewrap/) })
  expect(agent.warnings[0]).toContain('Not confined as required')
})

test('12.C1 an agent whose SANDBOX.md was not read is not started', async () => {
  const unread = defineAgentCli({ ...document, sandbox: './SANDBOX.md' }, host)
  await expect(unread.start()).rejects.toMatchObject({ code: 'sandbox_unavailable' })
})

test('12.C3 a profile with a policy that is not read is not taken for one that asks for nothing', async () => {
  const { agent } = await launch({ carried: { policy: { ref: './POLICY.md' } } })
  expect(agent.sandbox).toMatchObject({ enforced: false, reason: expect.stringContaining('policy: not read here') })
  expect(agent.warnings[0]).toContain('Not confined as required')
})
