import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentSignal, AgentSink, Clock, RunningAgent, SessionOrigin } from '@agentproto/contracts'
import { type AgentHost, launchAgent } from '@agentproto/driver-agent-cli'
import { createProvisioner, type ProvisionHost } from '@agentproto/driver-agent-cli/provision'
import type { AgentCliDocument } from '@agentproto/manifest'
import { type LoadedAgentCli, readAgentCli } from '@agentproto/manifest/node'
import { createRedactor, createSecrets } from '@agentproto/secrets'
import { findMarkedProcesses } from '@agentproto/subprocess'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { RedactingSink } from '../src/launch/redacting-sink.ts'
import { document, host as plainHost } from './small-agent.ts'

const VALUE = 'sk-guard-4711'
const SECRETS = [{ slug: 'acme/token', name: 'T', description: 'T', exposures: [{ kind: 'env', name: 'ACME_TOKEN' }] }]
const aip44 = { acp_rev: '064ee1ffe194cdb14e1d45d66875ce74a14933c3', tier: 'basic' }
const ACP = {
  name: 'a',
  id: 'a',
  description: 'a',
  version: '1.0.0',
  kind: 'client',
  transport: 'stdio',
  metadata: { aip44 },
}

interface Ground {
  readonly adapter: LoadedAgentCli
  readonly host: ProvisionHost
  readonly folder: string
}

function temporary(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agentproto-guard-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  return folder
}

function program(folder: string, name: string, source: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${source}\n`)
  chmodSync(join(folder, name), 0o755)
}

async function prepare(more: Partial<AgentCliDocument> = {}, moreHost: Partial<AgentHost> = {}): Promise<Ground> {
  const folder = temporary()
  const at = join(folder, 'small')
  mkdirSync(at)
  const write = (name: string, content: unknown) =>
    writeFileSync(join(at, name), `---\n${JSON.stringify(content)}\n---\n`)
  write('AGENT-CLI.md', { ...document, ...more })
  write('ACP.md', ACP)
  write('SECRETS.md', { secrets: SECRETS })
  const adapter = await readAgentCli(at)
  if (!adapter.ok) throw new Error(JSON.stringify(adapter.problems))
  const home = join(folder, 'home')
  mkdirSync(home)
  const env = { ...plainHost.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` }
  const redactor = createRedactor()
  const secrets = createSecrets({ home, env, keyring: 'none', redactor })
  const host: ProvisionHost = { ...plainHost, home, env, redactor, secrets, ...moreHost }
  return { adapter, host, folder }
}

const quiet: AgentSink = { emit: () => undefined, ask: () => Promise.resolve({ outcome: 'cancelled' }) }

interface Launching {
  readonly sink?: AgentSink
  readonly mode?: string
  readonly workspaceSlug?: string
  readonly origin?: SessionOrigin
  readonly moreArgs?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

async function launch(
  { adapter, host, folder }: Ground,
  { sink = quiet, ...more }: Launching = {},
): Promise<RunningAgent> {
  const agent = await launchAgent(adapter.manifest, {
    sessionId: `s-${crypto.randomUUID()}`,
    adapterSlug: 'small',
    adapter,
    sandbox: adapter.sandbox,
    cwd: folder,
    additionalDirectories: [],
    mcpServers: [],
    origin: { how: 'new' },
    env: {},
    signal: new AbortController().signal,
    sink,
    host,
    ...more,
  })
  onTestFinished(async () => void (await agent.stop()))
  return agent
}

/** What the agent says of its own environment. */
async function environmentOf(on: Ground, more: Launching = {}): Promise<Record<string, string>> {
  let said = ''
  const sink: AgentSink = {
    ...quiet,
    emit: (batch) => {
      for (const signal of batch) if (signal.type === 'text-delta') said += signal.text
    },
  }
  const agent = await launch(on, { ...more, sink })
  await agent.send([{ type: 'text', text: 'start' }])
  return (JSON.parse(said) as { env: Record<string, string> }).env
}

test('an agent is given its declared secrets, and what it says of them is taken out', async () => {
  const made = await prepare({ auth: { ref: './SECRETS.md' } })
  expect(await environmentOf(made)).not.toHaveProperty('ACME_TOKEN')
  await made.host.secrets.set('acme/token', { kind: 'opaque', value: VALUE })
  expect((await environmentOf(made))['ACME_TOKEN']).toBe('[redacted]')
})

test('F57 a session is taken up with the secrets of now, not with those of its first start', async () => {
  const made = await prepare({ auth: { ref: './SECRETS.md' } })
  const file = join(made.folder, 'given')
  const given = async (more: Launching): Promise<string> => {
    const agent = await launch(made, { ...more, env: { SMALL_TELL: file } })
    await agent.stop()
    return readFileSync(file, 'utf8')
  }
  await made.host.secrets.set('acme/token', { kind: 'opaque', value: VALUE })
  expect(await given({})).toBe(VALUE)
  await made.host.secrets.set('acme/token', { kind: 'opaque', value: `other-${VALUE}` })
  const origin = { how: 'load', agentSessionId: 's1' } as const
  expect(await given({ origin, moreArgs: ['--load'] })).toBe(`other-${VALUE}`)
  await made.host.secrets.remove('acme/token')
  expect(await given({ origin, moreArgs: ['--load'] })).toBe('')
})

test('a declared variable that is called like a secret is one', async () => {
  const env = await environmentOf(await prepare())
  expect([env['SMALL_API_KEY'], env['SMALL_TOKEN']]).toEqual(['[redacted]', '[redacted]'])
})

const SETUP: AgentCliDocument['setup'] = [{ id: 'url', kind: 'prompt', prompt: 'Url?', persist: { env: 'ACME_URL' } }]

test('nothing is spawned before the setup is done, and then the agent has what it gave', async () => {
  const version_check = { cmd: 'echo 1.0.0', parse: '(.*)', range: '*' }
  const made = await prepare({ setup: SETUP, version_check })
  const refused = await launch(made).catch((error: unknown) => error)
  expect(refused).toMatchObject({
    code: 'setup_required',
    parts: { data: { pending: [{ id: 'url', needs: { kind: 'value', prompt: 'Url?' } }] } },
  })
  const provisioner = createProvisioner(made.adapter, made.host)
  const run = async (workspaceSlug?: string, url = 'http://all') => {
    const request = {
      until: 'setup' as const,
      inputs: { url },
      ...(workspaceSlug === undefined ? {} : { workspaceSlug }),
    }
    for await (const _ of provisioner.run(request)) continue
  }
  await run('web', 'http://web')
  await expect(launch(made)).rejects.toMatchObject({ code: 'setup_required' })
  expect((await environmentOf(made, { workspaceSlug: 'web' }))['ACME_URL']).toBe('http://web')
  await run()
  expect((await environmentOf(made))['ACME_URL']).toBe('http://all')
  expect((await environmentOf(made, { workspaceSlug: 'web' }))['ACME_URL']).toBe('http://web')
})

test('a step that its skip_if lets pass is no obstacle', async () => {
  const made = await prepare({ setup: [{ id: 'daemon', kind: 'cmd', cmd: 'false', skip_if: { cmd: 'true' } }] })
  await expect(launch(made)).resolves.toMatchObject({ warnings: [] })
})

test('an agent that ends with the code of an ended login is not started again before somebody logs in', async () => {
  const auth: AgentCliDocument['auth'] = { login: { cmd: 'small-agent login' }, expiry: { detect: 'exit_code:77' } }
  const made = await prepare({ auth })
  program(made.folder, 'expired', 'exit 77')
  const expired = {
    ...made,
    host: { ...made.host, executables: { 'small-agent': join(made.folder, 'expired') } },
  }
  await expect(launch(expired)).rejects.toMatchObject({
    code: 'auth_required',
    parts: { data: { login: 'small-agent login' } },
  })
  await expect(launch(made)).rejects.toMatchObject({ code: 'auth_required' })
  expect(findMarkedProcesses('s-')).toEqual([])
})

test('a login is refreshed when its time has come, once', async () => {
  let now = Date.parse('2026-11-22T00:00:00Z')
  const clock: Clock = {
    now: () => now,
    after: (ms, run) => ({
      cancel: (
        (timer) => () =>
          clearTimeout(timer)
      )(setTimeout(run, ms)),
    }),
  }
  const made = await prepare({ auth: { refresh: { cmd: 'renew', every: 'PT1H' } } }, { clock })
  const calls = join(made.folder, 'calls')
  program(made.folder, 'renew', `echo x >> ${calls}`)
  const launched = async (after: number) => {
    now += after
    await (await launch(made)).stop()
    return readFileSync(calls, 'utf8').length / 2
  }
  expect([await launched(0), await launched(1_000), await launched(3_600_000)]).toEqual([1, 1, 2])
  program(made.folder, 'renew', 'echo "no network" >&2; exit 1')
  now += 3_600_000
  expect((await launch(made)).warnings).toEqual([expect.stringContaining('no network')])
})

test('a failure of the start is told without secrets', async () => {
  const made = await prepare({ auth: { ref: './SECRETS.md' } })
  await made.host.secrets.set('acme/token', { kind: 'opaque', value: VALUE })
  program(made.folder, 'broken', 'echo "bad token $ACME_TOKEN" >&2; exit 1')
  const broken = {
    ...made,
    host: { ...made.host, executables: { 'small-agent': join(made.folder, 'broken') } },
  }
  const failed = await launch(broken).catch((error: unknown) => error)
  expect(failed).toMatchObject({ code: 'handshake_failed' })
  expect(JSON.stringify((failed as { toProblem(): unknown }).toProblem())).toContain('bad token [redacted]')
  expect(String(failed)).not.toContain(VALUE)
})

test('however an agent cuts its text into pieces, a secret is in no run of them', () => {
  const words = fc.array(fc.oneof(fc.constantFrom(VALUE, 'sk-', 'sk-guard', '-4711'), fc.string({ maxLength: 4 })))
  const cuts = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(words, cuts, (said, sizes) => {
      const redactor = createRedactor()
      redactor.add(VALUE)
      const out: AgentSignal[] = []
      const sink = new RedactingSink({ ...quiet, emit: (batch) => void out.push(...batch) }, redactor)
      const whole = said.join('')
      for (let at = 0, turn = 0; at < whole.length; turn++) {
        const size = sizes[turn % sizes.length] ?? 1
        void sink.emit([
          { type: 'text-delta', text: whole.slice(at, at + size) },
          ...(size === 1 ? [{ type: 'usage' as const }] : []),
        ])
        at += size
      }
      void sink.emit([{ type: 'turn-end', reason: 'end_turn' }])
      const told = out.map((signal) => (signal.type === 'text-delta' ? signal.text : '')).join('')
      expect(told).toBe(whole.replaceAll(VALUE, '[redacted]'))
      expect(out.at(-1)).toEqual({ type: 'turn-end', reason: 'end_turn' })
    }),
  )
})

test('what is no text is cleaned whole, and comes after the text that was before it', () => {
  const redactor = createRedactor()
  redactor.add(VALUE)
  const out: AgentSignal[] = []
  const sink = new RedactingSink({ ...quiet, emit: (batch) => void out.push(...batch) }, redactor)
  void sink.emit([{ type: 'text-delta', text: 'it is sk-' }])
  void sink.emit([{ type: 'tool-call', toolCallId: 'c', title: `curl ${VALUE}`, input: { [VALUE]: [VALUE] } }])
  void sink.emit([{ type: 'thought', text: 'guard-4711' }])
  expect(out).toEqual([
    { type: 'text-delta', text: 'it is ' },
    { type: 'text-delta', text: 'sk-' },
    { type: 'tool-call', toolCallId: 'c', title: 'curl [redacted]', input: { '[redacted]': ['[redacted]'] } },
    { type: 'thought', text: 'guard-4711' },
  ])
})
