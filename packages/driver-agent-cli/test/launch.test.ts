import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomId } from '@agentproto/contracts'
import type { AgentSignal, RunningAgent } from '@agentproto/contracts/agent'
import { defineAgentCli, launchAgent, loadAgentCli, locateAgent } from '@agentproto/driver-agent-cli'
import type { LaunchOptions } from '@agentproto/driver-agent-cli'
import { findMarkedProcesses } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { resolveDirectories } from '../src/launch/working-directories.ts'
import { agentFile, document, host, say, small, start, textOf } from './small-agent.ts'

function scratch(): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'driver-')))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

function launching(more: Partial<LaunchOptions> = {}): LaunchOptions {
  return {
    sessionId: randomId('ses_'),
    adapterSlug: 'small',
    cwd: process.cwd(),
    additionalDirectories: [],
    mcpServers: [],
    origin: { how: 'new' },
    env: {},
    signal: new AbortController().signal,
    sink: { emit: () => {}, ask: async () => ({ outcome: 'cancelled' }) },
    host,
    ...more,
  }
}

async function launch(more: Partial<LaunchOptions> = {}): Promise<RunningAgent> {
  const agent = await launchAgent(small().manifest, launching(more))
  onTestFinished(async () => void (await agent.stop()))
  return agent
}

test('F83 no key that the manifest does not name is billed, and no model that it does not allow takes another’s place', async () => {
  const session = await start()
  const { env } = JSON.parse(textOf(await say(session, 'start'))) as { env: Record<string, string> }
  expect([env['SMALL_API_KEY'], env['OTHER_TOKEN'], env['SMALL_MODEL']]).toEqual(['declared secret', undefined, 'tiny'])
  const options: typeof document.options = [{ id: 'model', type: 'string' }]
  const picky = defineAgentCli({ ...document, options }, host)
  await expect(picky.start({ options: { model: 'gigantic' } })).rejects.toMatchObject({
    code: 'option_invalid',
    message: expect.stringContaining('tiny, huge') as string,
  })
})

test('mode, options and model reach the agent as argv and environment, the session as its variables', async () => {
  const session = await start({ mode: 'plan', options: { turns: 3 }, env: { EXTRA: '1' }, cwd: '/' })
  const seen = JSON.parse(textOf(await say(session, 'start'))) as {
    argv: string[]
    env: Record<string, string>
    cwd: string
  }
  expect(seen.argv).toEqual(['acp', '--plan', '--turns', '3'])
  expect(seen.cwd).toBe('/')
  expect(seen.env).toMatchObject({
    SMALL_API_KEY: 'declared secret',
    SMALL_TOKEN: 'passed secret',
    FROM_SANDBOX: 'yes',
    FROM_MODE: 'plan',
    SMALL_MODEL: 'tiny',
    EXTRA: '1',
    AGENTPROTO_AGENT: 'small',
    AGENTPROTO_MODEL: 'tiny',
    AGENTPROTO_SESSION_ID: expect.stringMatching(/^ses_/),
    PATH: expect.stringContaining('/usr/local/bin'),
  })
  expect(seen.env).not.toHaveProperty('OTHER_TOKEN')
  expect(seen.env).not.toHaveProperty('AGENTPROTO_URL')
})

test.each([
  ['an unknown mode', { mode: 'warp' }, 'mode_unknown'],
  ['F98 an unknown option', { options: { speed: 1 } }, 'option_invalid'],
  ['F98 an option out of bounds', { options: { turns: 10 } }, 'option_invalid'],
  ['a relative folder', { cwd: 'src' }, 'cwd_invalid'],
  ['a missing folder', { cwd: '/no/such' }, 'cwd_invalid'],
  ['a file as folder', { cwd: agentFile }, 'cwd_invalid'],
  ['F88 a NUL in a folder', { cwd: '/tmp\0' }, 'cwd_invalid'],
  ['a missing further folder', { additionalDirectories: ['/no/such'] }, 'cwd_invalid'],
  ['a start that was aborted before', { signal: AbortSignal.abort() }, 'cancelled'],
])('%s is refused before anything is spawned', async (_, wrong, code) => {
  const options = launching(wrong)
  await expect(launchAgent(small().manifest, options)).rejects.toMatchObject({ code })
  expect(findMarkedProcesses(options.sessionId)).toEqual([])
})

test('an agent that is not there is refused with what to run', async () => {
  const handle = small({ executables: {} })
  expect(await handle.locate()).toBeUndefined()
  await expect(handle.start()).rejects.toMatchObject({
    code: 'agent_not_installed',
    message: expect.stringContaining('npm install --global small-agent'),
  })
})

test('an agent that is installed below the home is found there', async () => {
  const home = scratch()
  const bin = join(home, 'agents/small/node_modules/.bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(bin, 'small-agent'), '', { mode: 0o755 })
  expect(await locateAgent(small().manifest, { ...host, home, executables: {} })).toEqual({
    command: join(bin, 'small-agent'),
    args: [],
  })
  expect(await small().locate()).toEqual({ command: process.execPath, args: [agentFile] })
})

test('an adapter package that the host does not allow is named, and nothing is started', async () => {
  const { acp: _, ...rest } = document
  const { manifest } = defineAgentCli({ ...rest, protocol: 'proprietary', adapter: '@x/small' }, host)
  await expect(launchAgent(manifest, launching())).rejects.toMatchObject({
    code: 'protocol_unsupported',
    message: expect.stringContaining('@x/small'),
  })
})

test('an agent that wants a login is refused with the manifest’s command, and is gone', async () => {
  const options = launching({ mode: 'login' })
  await expect(launchAgent(small().manifest, options)).rejects.toMatchObject({
    code: 'auth_required',
    message: expect.stringContaining('small-agent login'),
  })
  expect(findMarkedProcesses(options.sessionId)).toEqual([])
})

test('a start that is aborted while the session is opened leaves nothing behind', async () => {
  const abort = new AbortController()
  const options = launching({ mode: 'mute', signal: abort.signal })
  const starting = launchAgent(small().manifest, options)
  await expect.poll(() => findMarkedProcesses(options.sessionId)).toHaveLength(1)
  setTimeout(() => abort.abort(), 100)
  await expect(starting).rejects.toMatchObject({ code: 'cancelled' })
  expect(findMarkedProcesses(options.sessionId)).toEqual([])
})

test('a running agent names its process, sends, cancels and stops once', async () => {
  const signals: AgentSignal[] = []
  const sink = {
    emit: (batch: readonly AgentSignal[]) => void signals.push(...batch),
    ask: async () => ({ outcome: 'cancelled' as const }),
  }
  const agent = await launch({ sink })
  expect(agent).toMatchObject({
    agentSessionId: 's1',
    info: { name: 'small' },
    warnings: [],
    process: { pid: expect.any(Number) },
  })
  const turn = agent.send([{ type: 'text', text: 'hang' }])
  await expect(agent.send([{ type: 'text', text: 'x' }])).rejects.toMatchObject({ code: 'turn_in_progress' })
  expect(agent.stop()).toBe(agent.stop())
  expect(await agent.stop()).toEqual({ exitCode: 0 })
  await turn
  expect(signals).toEqual([{ type: 'turn-end', reason: 'cancelled', empty: true }])
})

test('folders are resolved, said once, and not the first one again', async () => {
  const root = scratch()
  for (const name of ['a', 'b']) mkdirSync(join(root, name))
  symlinkSync(join(root, 'a'), join(root, 'link'))
  const [a, b, link] = [join(root, 'a'), join(root, 'b'), join(root, 'link')]
  expect(await resolveDirectories({ cwd: link, additionalDirectories: [a, b, link, b] })).toEqual({
    cwd: a,
    additionalDirectories: [b],
  })
})

test('a manifest is checked, from an object as from a file', async () => {
  expect(() => defineAgentCli({ ...document, bin: 'no spaces allowed' })).toThrow(
    expect.objectContaining({ code: 'manifest_invalid' }),
  )
  await expect(loadAgentCli(scratch())).rejects.toMatchObject({ code: 'manifest_invalid' })
  const { manifest } = defineAgentCli(document)
  expect(defineAgentCli(manifest).manifest).toBe(manifest)
})
