import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentSink, RunningAgent, SessionOrigin } from '@agentproto/contracts/agent'
import { type AgentHost, launchAgent, type LaunchOptions } from '@agentproto/driver-agent-cli'
import type { AgentCliDocument } from '@agentproto/manifest'
import { type LoadedAgentCli, readAgentCli } from '@agentproto/manifest/node'
import { createRedactor, createSecrets, type Redactor, type Secrets } from '@agentproto/secrets'
import { onTestFinished } from 'vitest'
import { document, host as plainHost } from './small-agent.ts'

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

type PreparedHost = AgentHost & { readonly secrets: Secrets; readonly redactor: Redactor }

export interface Prepared {
  readonly adapter: LoadedAgentCli
  readonly host: PreparedHost
  readonly folder: string
}

function temporary(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agentproto-guard-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  return folder
}

export function program(folder: string, name: string, source: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${source}\n`)
  chmodSync(join(folder, name), 0o755)
}

export async function prepare(
  more: Partial<AgentCliDocument> = {},
  moreHost: Partial<AgentHost> = {},
): Promise<Prepared> {
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
  const host: PreparedHost = { ...plainHost, home, env, redactor, secrets, ...moreHost }
  return { adapter, host, folder }
}

export const quiet: AgentSink = { emit: () => undefined, ask: () => Promise.resolve({ outcome: 'cancelled' }) }

export interface Launching {
  readonly sink?: AgentSink
  readonly mode?: string
  readonly options?: Readonly<Record<string, string>>
  readonly workspaceSlug?: string
  readonly origin?: SessionOrigin
  readonly moreArgs?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** A launch of the prepared agent in a folder of its own; with the given changes. */
export const launchOptions = (
  { adapter, host, folder }: Prepared,
  more: Partial<LaunchOptions> & Pick<LaunchOptions, 'sink'>,
): LaunchOptions => ({
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
  host,
  ...more,
})

export async function launch(on: Prepared, { sink = quiet, ...more }: Launching = {}): Promise<RunningAgent> {
  const agent = await launchAgent(on.adapter.manifest, launchOptions(on, { sink, ...more }))
  onTestFinished(async () => void (await agent.stop()))
  return agent
}

/** What the agent says of its own environment. */
export async function environmentOf(on: Prepared, more: Launching = {}): Promise<Record<string, string>> {
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
