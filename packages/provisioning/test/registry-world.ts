import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseRegistry, type RegistryReader } from '@agentproto/acp-registry'
import type { AgentprotoError } from '@agentproto/contracts'
import type { AdapterService, AddAgentEvent } from '@agentproto/contracts/wire'
import { hostAdapters, ManifestCatalog } from '@agentproto/provisioning/catalog'
import { locateAgent } from '@agentproto/driver-agent-cli'
import { acpProgram } from './acp-program.ts'
import { npmRegistry } from './npm-registry.ts'
import { hostOf, type TestHost } from './test-host.ts'

export interface RegistryWorld {
  readonly host: TestHost
  readonly adapters: AdapterService
  /** The agents of the registry from now on. */
  readonly publish: (...entries: readonly object[]) => void
}

export interface WorldOptions {
  /** Versions of the npm package `sample-agent`. Default: one. */
  readonly versions?: readonly string[]
  /** What its program is. Default: an ACP agent. */
  readonly source?: (version: string) => string
  /** Further members of its package.json. */
  readonly more?: Readonly<Record<string, unknown>>
  /** Folder of the adapters that ship with agentproto. */
  readonly bundled?: string
  /** Folder of the adapters of a workspace. */
  readonly workspace?: string
  /** Variables of the host. */
  readonly env?: Readonly<Record<string, string>>
}

/** A home, an npm registry with the package `sample-agent`, and a registry of agents. */
export async function registryWorld(options: WorldOptions = {}): Promise<RegistryWorld> {
  const { versions = ['1.0.0'], source = acpProgram, more = {}, bundled, workspace, env = {} } = options
  const npm = await npmRegistry('sample-agent', versions, { ...more, source })
  const host = hostOf({
    env: { ...process.env, npm_config_registry: npm.url, ...env },
    platform: { os: process.platform, arch: process.arch },
  })
  let agents: readonly object[] = [entryOf()]
  const openRegistry = async (): Promise<RegistryReader> => ({
    url: URL,
    read: async () => ({
      ...parseRegistry(JSON.stringify({ version: '1.0.0', agents })),
      url: URL,
      confirmedAt: 0,
      ageMs: 0,
    }),
  })
  const catalog = new ManifestCatalog({
    folders: async () => [
      ...(workspace === undefined ? [] : [{ path: workspace, source: 'workspace' as const }]),
      ...(bundled === undefined ? [] : [{ path: bundled, source: 'bundled' as const }]),
      { path: join(host.home, 'adapters'), source: 'user' },
    ],
    isInstalled: async (manifest) => (await locateAgent(manifest, host)) !== undefined,
    onProblem: () => undefined,
  })
  const adapters = hostAdapters(catalog, host, { openRegistry })
  return { host, adapters, publish: (...entries) => void (agents = entries) }
}

const URL = 'https://registry.example/registry.json'

/** An entry of the package `sample-agent`. */
export const entryOf = (more: object = {}): object => ({
  id: 'sample',
  name: 'Sample Agent',
  version: '1.0.0',
  description: 'An agent for tests',
  license: 'MIT',
  distribution: { npx: { package: 'sample-agent@1.0.0' } },
  ...more,
})

/** An entry whose program is at an address. */
export const binaryEntry = (archive: string, more: object = {}): object => {
  const { platform, arch } = process
  const key = `${platform === 'win32' ? 'windows' : platform}-${arch === 'arm64' ? 'aarch64' : 'x86_64'}`
  return entryOf({ distribution: { binary: { [key]: { archive, cmd: './sample-acp', ...more } } } })
}

export interface Added {
  readonly events: readonly AddAgentEvent[]
  readonly error?: AgentprotoError
}

/** Runs adding or updating to its end. */
export async function follow(events: AsyncIterable<AddAgentEvent>): Promise<Added> {
  const seen: AddAgentEvent[] = []
  try {
    for await (const event of events) seen.push(event)
    return { events: seen }
  } catch (thrown) {
    return { events: seen, error: thrown as AgentprotoError }
  }
}

/** What is below the folders of a home that adding writes to, without folders that are empty. */
export const leftIn = ({ home }: TestHost): readonly string[] =>
  ['adapters', 'agents', 'provisioning'].flatMap((folder) => {
    const path = join(home, folder)
    return existsSync(path) ? readdirSync(path).map((name) => `${folder}/${name}`) : []
  })

export const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex')
