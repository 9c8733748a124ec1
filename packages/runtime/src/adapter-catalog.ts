import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type AdapterCatalog, type AdapterSummary, AgentprotoError } from '@agentproto/contracts'
import type { AgentCliManifest } from '@agentproto/manifest'
import { formatProblem } from '@agentproto/manifest'
import { readAgentCli } from '@agentproto/manifest/node'

/** Manifests from folders of folders, later folders winning; each is read when it is first needed. */

export interface CatalogFolder {
  readonly path: string
  readonly source: AdapterSummary['source']
}

export interface ManifestCatalogOptions {
  /** In the order of rising precedence. One that does not exist holds nothing. */
  readonly folders: readonly CatalogFolder[]
  /** Whether the manifest's executable is found on this host now. */
  readonly isInstalled: (manifest: AgentCliManifest) => Promise<boolean>
  readonly onProblem: (problem: string) => void
}

export interface LoadedAdapter {
  readonly manifest: AgentCliManifest
  /** Path of its AGENT-CLI.md. */
  readonly path: string
  readonly source: AdapterSummary['source']
}

const SLUG = /^[a-z0-9][a-z0-9-]{0,79}$/

export class ManifestCatalog implements AdapterCatalog {
  readonly #options: ManifestCatalogOptions
  readonly #loaded = new Map<string, Promise<LoadedAdapter | undefined>>()
  #places: Promise<ReadonlyMap<string, CatalogFolder>> | undefined

  constructor(options: ManifestCatalogOptions) {
    this.#options = options
  }

  async list(): Promise<readonly AdapterSummary[]> {
    const slugs = [...(await this.#find()).keys()].sort()
    const loaded = await Promise.all(slugs.map((slug) => this.#load(slug)))
    return Promise.all(loaded.flatMap((adapter) => (adapter === undefined ? [] : [this.#summary(adapter)])))
  }

  async get(slug: string): Promise<AdapterSummary> {
    return this.#summary(await this.adapter(slug))
  }

  /** @throws `adapter_not_found`, naming the known ones */
  async adapter(slug: string): Promise<LoadedAdapter> {
    const loaded = SLUG.test(slug) ? await this.#load(slug) : undefined
    if (loaded !== undefined) return loaded
    const known = [...(await this.#find()).keys()].sort()
    throw new AgentprotoError('adapter_not_found', 'There is no such adapter', {
      expected: known.length === 0 ? 'an installed adapter, of which there is none' : `one of ${known.join(', ')}`,
      given: slug,
      hint: 'List them with `agentproto adapters list`',
    })
  }

  #find(): Promise<ReadonlyMap<string, CatalogFolder>> {
    this.#places ??= findAdapters(this.#options.folders)
    return this.#places
  }

  #load(slug: string): Promise<LoadedAdapter | undefined> {
    const known = this.#loaded.get(slug)
    if (known !== undefined) return known
    const loading = this.#read(slug)
    this.#loaded.set(slug, loading)
    return loading
  }

  async #read(slug: string): Promise<LoadedAdapter | undefined> {
    const folder = (await this.#find()).get(slug)
    if (folder === undefined) return undefined
    const path = join(folder.path, slug, 'AGENT-CLI.md')
    const result = await readAgentCli(path)
    if (result.ok) return { manifest: result.manifest, path, source: folder.source }
    this.#options.onProblem(`The adapter ${slug} is left out:\n${result.problems.map(formatProblem).join('\n')}`)
    return undefined
  }

  async #summary({ manifest, source }: LoadedAdapter): Promise<AdapterSummary> {
    const installed = await this.#options.isInstalled(manifest)
    const { mode, idleTimeoutMs, maxTurns } = manifest.session
    return {
      slug: manifest.id,
      name: manifest.name,
      description: manifest.description,
      version: manifest.version,
      protocol: manifest.protocol,
      installed,
      source,
      ...(installed ? {} : { installHint: installHint(manifest) }),
      modes: manifest.modes.map(({ id }) => id),
      session: {
        mode,
        ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
        ...(maxTurns === undefined ? {} : { maxTurns }),
      },
    }
  }
}

/** What a person types to install an agent; its first method that is a plain command. */
function installHint(manifest: AgentCliManifest): string {
  for (const method of manifest.install) {
    if (method.method === 'npm') return `npm install --global ${method.package}`
    if (method.method === 'brew' || method.method === 'cargo' || method.method === 'pip')
      return `${method.method} install ${method.package}`
  }
  return `See the manifest of ${manifest.id}`
}

async function findAdapters(folders: readonly CatalogFolder[]): Promise<ReadonlyMap<string, CatalogFolder>> {
  const found = new Map<string, CatalogFolder>()
  for (const folder of folders) {
    const entries = await readdir(folder.path, { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      if ((entry.isDirectory() || entry.isSymbolicLink()) && SLUG.test(entry.name)) found.set(entry.name, folder)
    }
  }
  return found
}
