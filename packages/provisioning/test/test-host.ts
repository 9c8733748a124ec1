import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentprotoError } from '@agentproto/contracts'
import type { ProvisionEvent, ProvisionRequest } from '@agentproto/contracts/wire'
import { createProvisioner, type ProvisionHost, type Provisioner } from '@agentproto/provisioning'
import type { AgentCliDocument } from '@agentproto/manifest'
import { type LoadedAgentCli, readAgentCli } from '@agentproto/manifest/node'
import { createRedactor, createSecrets } from '@agentproto/secrets'
import { onTestFinished } from 'vitest'

/** A folder that is gone after the test. */
export function folder(name: string): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), `agentproto-${name}-`)))
  onTestFinished(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }))
  return path
}

/** Writes a program for a PATH. */
export function program(at: string, name: string, source: string): string {
  const file = join(at, name)
  mkdirSync(at, { recursive: true })
  writeFileSync(file, source)
  chmodSync(file, 0o755)
  return file
}

/** A program that prints a version; any other argument is ignored. */
export const versionProgram = (version: string): string => `#!/bin/sh\necho "tool ${version}"\n`

export interface TestHost extends ProvisionHost {
  /** The one folder of its PATH, beside what every shell needs. */
  readonly bin: string
}

/** A host of its own: home, PATH, environment. */
export function hostOf(more: Partial<ProvisionHost> = {}): TestHost {
  const home = more.home ?? folder('home')
  const bin = folder('bin')
  const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: home, ...more.env }
  const redactor = createRedactor()
  const secrets = createSecrets({ home, env, keyring: 'none', redactor })
  return { home, redactor, secrets, bin, platform: { os: 'linux', arch: 'x64' }, ...more, env }
}

const ACP = `---
name: Tool
id: tool-acp
description: A tool.
version: 1.0.0
kind: client
transport: stdio
metadata: { aip44: { acp_rev: 064ee1ffe194cdb14e1d45d66875ce74a14933c3, tier: basic } }
---
`

export interface AdapterFiles {
  /** YAML of the entries of a SECRETS.md. */
  readonly secrets?: string
}

/** Writes a manifest into a folder of its own and reads it. */
export async function adapterOf(
  document: Partial<AgentCliDocument>,
  { secrets }: AdapterFiles = {},
): Promise<LoadedAgentCli> {
  const at = join(folder('adapter'), 'tool')
  mkdirSync(at)
  const whole = {
    name: 'tool',
    id: 'tool',
    description: 'A tool.',
    version: '1.0.0',
    bin: 'agent-tool',
    install: [{ method: 'brew', package: 'agent-tool' }],
    version_check: { cmd: 'agent-tool --version', parse: '(\\d+\\.\\d+\\.\\d+)', range: '>=1.0.0 <2.0.0' },
    sandbox: { provider: 'local' },
    protocol: 'acp',
    acp: './ACP.md',
    ...document,
  }
  writeFileSync(join(at, 'AGENT-CLI.md'), `---\n${JSON.stringify(whole)}\n---\n`)
  writeFileSync(join(at, 'ACP.md'), ACP)
  if (secrets !== undefined) writeFileSync(join(at, 'SECRETS.md'), `---\nsecrets:\n${secrets}---\n`)
  const read = await readAgentCli(at)
  if (!read.ok) throw new Error(read.problems.map(({ message }) => message).join('\n'))
  return read
}

export interface Outcome {
  readonly events: readonly ProvisionEvent[]
  readonly error?: AgentprotoError
}

/** Runs a provisioner to its end. */
export async function provision(provisioner: Provisioner, request: ProvisionRequest): Promise<Outcome> {
  const events: ProvisionEvent[] = []
  try {
    for await (const event of provisioner.run(request)) events.push(event)
    return { events }
  } catch (thrown) {
    return { events, error: thrown as AgentprotoError }
  }
}

export async function install(
  document: Partial<AgentCliDocument>,
  host: ProvisionHost,
  request: Partial<ProvisionRequest> = {},
): Promise<Outcome> {
  return provision(createProvisioner(await adapterOf(document), host), { until: 'install', ...request })
}

/** What became of each method, as `name state: detail`. */
export const methodsOf = ({ events }: Outcome): string[] =>
  events.flatMap((event) => (event.type === 'method' ? [`${event.method} ${event.state}: ${event.detail ?? ''}`] : []))

export interface FileServer {
  readonly url: string
  /** Paths that were asked for. */
  readonly asked: string[]
}

/** Serves files on loopback. A function answers by itself. */
export async function serveFiles(files: Readonly<Record<string, Uint8Array | string>>): Promise<FileServer> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    asked.push(path)
    const content = files[path]
    if (content === undefined) response.writeHead(404).end()
    else response.writeHead(200).end(content)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

export const textAt = (path: string): string => readFileSync(path, 'utf8')
