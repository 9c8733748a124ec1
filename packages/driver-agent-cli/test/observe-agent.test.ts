import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AgentHost } from '@agentproto/driver-agent-cli'
import { observeAgent } from '@agentproto/driver-agent-cli'
import { parseAgentCli } from '@agentproto/manifest'
import type { AgentCliDocument } from '@agentproto/manifest'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import type { SandboxRequest } from '@agentproto/sandbox'
import { observedAgentSchema } from '@agentproto/contracts/wire'
import { expect, onTestFinished, test, vi } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { processesMarked } from '../../../tooling/process-table.ts'

const fixture = fileURLToPath(new URL('fixtures/observed.mjs', import.meta.url))

const host: AgentHost = {
  env: { ...process.env, OBSERVED_API_KEY: 'a key of the user', OBSERVED_OTHER: 'x', HOME: '/home/user' },
  home: '/no/such/home',
  executables: { observed: fixture },
}
const limits = { handshakeMs: 20_000, openMs: 5_000, requestMs: 1_000, stdinGraceMs: 2_000, termGraceMs: 500 }

/** Observes the fixture agent; afterwards nothing of it may be there. */
async function observe(words: readonly string[], more: Partial<Parameters<typeof observeAgent>[0]> = {}) {
  const temporary = folder()
  vi.stubEnv('TMPDIR', temporary)
  const { signal } = new AbortController()
  try {
    return await observeAgent({ adapter: adapterOf(words), host, limits, signal, ...more })
  } finally {
    vi.unstubAllEnvs()
    expect([processesMarked(temporary), readdirSync(temporary)]).toEqual([[], []])
  }
}

function adapterOf(words: readonly string[], more: Partial<AgentCliDocument> = {}): LoadedAgentCli {
  const document = {
    name: 'observed',
    id: 'observed',
    description: 'An agent for tests.',
    version: '1.0.0',
    bin: 'observed',
    bin_args: words,
    install: [{ method: 'npm', package: 'observed' }],
    version_check: { cmd: 'observed --version', parse: String.raw`(\d+\.\d+\.\d+)`, range: '*' },
    sandbox: { provider: 'local', env: { passthrough: ['OBSERVED_API_KEY'], set: { OBSERVED_SET: 'yes' } } },
    protocol: 'acp',
    acp: './ACP.md',
    ...more,
  }
  const parsed = parseAgentCli(`---\n${JSON.stringify(document)}\n---\n`, { path: 'observed/AGENT-CLI.md' })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  const { manifest } = parsed
  if (manifest.sandbox.from !== 'inline') throw new Error('The sandbox is inline')
  return { path: '', directory: '', manifest, sandbox: manifest.sandbox.profile }
}

function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'agentproto-outside-')))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

test('18.3 what an agent offers, how it ends and what it leaves is measured', async () => {
  const observation = await observe(['open'])
  expect(observedAgentSchema.parse(observation)).toEqual(observation)
  expect(observation).toEqual({
    at: expect.stringMatching(/Z$/),
    agentName: 'Observed agent',
    agentVersion: '1.2.3',
    protocolVersion: 1,
    handshakeMs: expect.any(Number),
    capabilities: expect.objectContaining({ load: true, image: true, mcpHttp: true, audio: false }),
    modes: [
      { id: 'ask', name: 'Ask' },
      { id: 'auto', name: 'Auto', description: 'All' },
    ],
    models: ['tiny', 'huge'],
    mode: 'ask',
    model: 'tiny',
    logins: [
      { id: 'key', name: 'API key', needsTerminal: false },
      { id: 'browser', name: 'Log in', needsTerminal: true },
    ],
    session: 'opened',
    ends: 'stdin',
    endMs: expect.any(Number),
    stdoutNoise: { lines: 0 },
    leaves: { processes: [], files: 0, bytes: 0 },
  })
})

test('18.3 an agent that refuses a session says why, with its own code, and on one line', async () => {
  const refused = await observe(['refuse'])
  expect(refused.session).toEqual({
    refused: { code: 'auth_required', agentCode: -32000, message: 'Log in first [2J.' },
  })
  expect([refused.modes, refused.logins.length, refused.capabilities.load]).toEqual([[], 2, true])
  const broken = await observe(['broken'])
  expect(broken.session).toMatchObject({ refused: { code: 'handshake_failed', agentCode: -32603 } })
  expect(JSON.stringify(broken.session)).toContain('model not configured')
})

test('18.3 an agent that never opens its session, or ends instead, has one that is refused', async () => {
  const silent = await observe(['hang-session'], { limits: { openMs: 300, stdinGraceMs: 500, termGraceMs: 500 } })
  expect(silent.session).toMatchObject({ refused: { code: 'timeout' } })
  const ended = await observe(['exit-session'])
  expect(ended.session).toMatchObject({ refused: { message: expect.stringContaining('exit code 4') } })
})

test('18.3 lines of stdout that are no JSON-RPC are counted, and the first is kept', async () => {
  expect((await observe(['noise'])).stdoutNoise).toEqual({ lines: 2, first: 'Welcome!' })
})

test('18.3 what ended an agent is measured, and how long it took', async () => {
  const deaf = await observe(['deaf'], { limits: { stdinGraceMs: 200, termGraceMs: 2_000 } })
  expect([deaf.ends, deaf.endMs >= 200]).toEqual(['SIGTERM', true])
  const stubborn = await observe(['stubborn'], { limits: { stdinGraceMs: 100, termGraceMs: 200 } })
  expect([stubborn.ends, stubborn.endMs >= 300]).toEqual(['SIGKILL', true])
})

test('18.3 a daemon that an agent leaves is named and ended, also one with a clean environment', async () => {
  expect((await observe(['daemon'])).leaves.processes).toEqual(['sleep'])
  expect((await observe(['clean-daemon'])).leaves.processes).toEqual(['sleep'])
})

test('18.3 what an agent leaves in its home is counted and removed, and nothing outside of it', async () => {
  const outside = folder()
  writeFileSync(join(outside, 'kept'), 'x')
  const { leaves } = await observe(['leave', outside])
  expect(leaves).toMatchObject({ files: 2, bytes: 10_000 })
  expect(readdirSync(outside)).toEqual(['kept'])
})

test('18.3 what an agent asks for before its first prompt is refused', async () => {
  const { session, leaves } = await observe(['ask'])
  expect(session).toMatchObject({
    refused: { message: expect.stringMatching(/p: .*"outcome":"cancelled".*; t: refused; w: refused/) },
  })
  expect(leaves.files).toBe(0)
})

test('18.3 an agent that does not shake hands fails with what it did instead', async () => {
  const brief = { handshakeMs: 500, stdinGraceMs: 500, termGraceMs: 500 }
  await expect(observe(['hang'], { limits: brief })).rejects.toMatchObject({ code: 'timeout' })
  await expect(observe(['garbage'], { limits: brief })).rejects.toMatchObject({
    code: 'timeout',
    message: expect.stringContaining('no JSON-RPC: What?'),
  })
  await expect(observe(['exit'])).rejects.toMatchObject({
    code: 'handshake_failed',
    message: expect.stringContaining('the bridge is not there'),
  })
  await expect(observe(['version'])).rejects.toMatchObject({
    code: 'handshake_failed',
    message: expect.stringContaining('another version of ACP'),
  })
})

test.each(['flood', 'flood-lines', 'flood-errors', 'flood-requests'])(
  '18.3 an agent that floods is ended at a bound: %s',
  async (word) => {
    await expect(observe([word])).rejects.toMatchObject({
      code: 'handshake_failed',
      message: expect.stringContaining('more than 16 MiB'),
    })
  },
)

test('18.3 an observation that is cancelled leaves nothing, whatever the agent answers then', async () => {
  // None of them is done by then, however fast the host is.
  for (const word of ['hang', 'late', 'hang-session', 'deaf']) {
    const abort = new AbortController()
    const observing = observe([word], { signal: abort.signal })
    setTimeout(() => abort.abort(), 150)
    await expect(observing).rejects.toMatchObject({ code: 'cancelled' })
  }
})

test('18.3 an observation that is cancelled while the last of it is removed has no result', async () => {
  const abort = new AbortController()
  const release = async (): Promise<void> => abort.abort()
  const local = { prepare: async (_: unknown, { launch }: SandboxRequest) => ({ launch, ...CONFINED, release }) }
  const leased = { ...host, sandbox: { providers: { local } } }
  const observing = observe(['open'], { host: leased, signal: abort.signal })
  await expect(observing).rejects.toMatchObject({ code: 'cancelled' })
})

const CONFINED = { enforced: true, warnings: [] }

test('18.3 it gets what the manifest sets, a home and a temporary folder of its own, and no key of the user', async () => {
  const { agentName = '' } = await observe(['environment'])
  expect(JSON.parse(agentName)).toEqual({ set: 'yes', own: true, key: null, other: null, outside: false })
})

test('18.3 what a host left that was killed is ended and removed by the next observation', async () => {
  const temporary = folder()
  vi.stubEnv('TMPDIR', temporary)
  onTestFinished(() => void vi.unstubAllEnvs())
  const left = join(temporary, 'agentproto-observe-killed')
  const fresh = join(temporary, 'agentproto-observe-fresh')
  const another = join(temporary, 'another')
  for (const path of [left, fresh, another]) mkdirSync(path)
  const hourAgo = Date.now() - 3_600_000
  for (const path of [left, another]) utimesSync(path, hourAgo / 1_000, hourAgo / 1_000)
  const sleeper = (time: number) => {
    const env = { ...process.env, AGENTPROTO_SESSION_ID: `observe_${time.toString(36)}_x` }
    const child = spawn('sleep', ['300'], { env, stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    return child
  }
  const [old, young] = [sleeper(hourAgo), sleeper(Date.now())]
  const ended = once(old, 'exit')
  await observeAgent({ adapter: adapterOf(['open']), host, limits, signal: new AbortController().signal })
  expect(await ended).toEqual([null, 'SIGTERM'])
  expect([young.exitCode, young.signalCode]).toEqual([null, null])
  expect(readdirSync(temporary).toSorted()).toEqual(['agentproto-observe-fresh', 'another'])
})

test('18.3 an agent that a sandbox confines is measured in it', needs('bwrap'), async () => {
  const sandbox = {
    provider: 'local',
    mounts: [{ source: 'workspace', at: '/workspace', mode: 'read-write' }],
  } as const
  // Of another name than the temporary folder, which the sandbox replaces.
  const outside = folder()
  const seen = async (more: Partial<AgentCliDocument>): Promise<unknown> => {
    const { agentName = '' } = await observe([], { adapter: adapterOf(['environment', outside], more) })
    return JSON.parse(agentName)
  }
  expect(await seen({})).toMatchObject({ own: true, outside: true })
  expect(await seen({ sandbox })).toMatchObject({ own: true, outside: false })
})
