import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { AgentprotoError, defined } from '@agentproto/contracts'
import type { AdapterCatalog, AdapterOption, AdapterSummary } from '@agentproto/contracts/agent'
import { sessionPolicy } from '@agentproto/driver-agent-cli'
import { launchHints } from '@agentproto/driver-agent-cli/installation'
import type { AgentCliManifest, Option } from '@agentproto/manifest'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import { catalogPath, readCatalogue } from '@agentproto/adapters'
import { ADAPTER_SLUG } from '../adapter-slug.js'
import { adapterOrigin } from './adapter-origin.js'
import { endpointProblem, endpointSummary } from './endpoint-place.js'

export interface CatalogFolder {
  readonly path: string
  readonly source: AdapterSummary['source']
}

export interface ManifestCatalogOptions {
  /** In rising precedence, called at every lookup. A folder that does not exist is empty. */
  readonly folders: () => Promise<readonly CatalogFolder[]>
  /** Whether the manifest's executable is found on this host now. */
  readonly isInstalled: (manifest: AgentCliManifest) => Promise<boolean>
  readonly onProblem: (problem: string) => void
  /** Providers that manifests may name beside the built-in ones. */
  readonly sandboxProviders?: readonly string[]
}

export interface LoadedAdapter extends LoadedAgentCli {
  readonly source: AdapterSummary['source']
}

/**
 * Manifests from folders of folders, by their ids; later folders override earlier ones. A manifest is read at first use, and
 * again when it has changed.
 */
export class ManifestCatalog implements AdapterCatalog {
  readonly #options: ManifestCatalogOptions
  /** By the adapter's folder. */
  readonly #loaded = new Map<string, { readonly state: string; readonly adapter: Promise<LoadedAdapter | undefined> }>()
  /** Folders that were reported as overridden. */
  readonly #reported = new Set<string>()
  /** Why an adapter is left out, by its folder. */
  readonly #leftOut = new Map<string, string>()
  #catalogue: ReturnType<typeof readCatalogue> | undefined

  constructor(options: ManifestCatalogOptions) {
    this.#options = options
  }

  async list(): Promise<readonly AdapterSummary[]> {
    return Promise.all(await this.map((adapter) => this.#summary(adapter)))
  }

  /** Maps each adapter, in the order of their slugs. */
  async map<T>(make: (adapter: LoadedAdapter) => T): Promise<readonly T[]> {
    const places = await this.#find()
    const slugs = [...places.keys()].sort()
    const loaded = await Promise.all(slugs.map((slug) => this.#load(places.get(slug))))
    return loaded.flatMap((adapter) => (adapter === undefined ? [] : [make(adapter)]))
  }

  async get(slug: string): Promise<AdapterSummary> {
    return this.#summary(await this.adapter(slug))
  }

  /** @throws `adapter_not_found`, naming the known ones; `manifest_invalid` for one that is left out, with what is wrong */
  async adapter(slug: string): Promise<LoadedAdapter> {
    const places = await this.#find()
    const place = places.get(slug)
    const loaded = await this.#load(place)
    if (loaded !== undefined) return loaded
    const leftOut = place && this.#leftOut.get(place.directory)
    if (leftOut !== undefined) throw new AgentprotoError('manifest_invalid', leftOut)
    const known = [...places.keys()].sort()
    throw new AgentprotoError('adapter_not_found', 'There is no such adapter', {
      expected: known.length === 0 ? 'an installed adapter, of which there is none' : `one of ${known.join(', ')}`,
      given: slug,
      hint: 'List them with `agentproto adapters list`',
      data: { known },
    })
  }

  /** Where the adapter of a name is, valid or not. */
  async sourceOf(slug: string): Promise<AdapterSummary['source'] | undefined> {
    return (await this.#find()).get(slug)?.source
  }

  async #find(): Promise<Places> {
    const found = new Map<string, Place>()
    for (const folder of await this.#options.folders()) {
      for (const [id, place] of await this.#placesIn(folder)) {
        const before = found.get(id)
        // A workspace adds adapters and replaces none: otherwise anyone who can write to its folder decides what a known name runs.
        if (before?.source === 'workspace') this.#reportOverridden(id, before)
        found.set(id, place)
      }
    }
    return found
  }

  /** The adapters of one folder by id. One that is left out has the name of its folder. */
  async #placesIn({ path, source }: CatalogFolder): Promise<Places> {
    const names = await foldersIn(path)
    const places = await Promise.all(
      names.map(async (name) => {
        const place = { directory: join(path, name), source }
        // The folders of the catalogue have the ids: that was checked when it was built.
        const id = path === catalogPath ? name : ((await this.#load(place))?.manifest.id ?? name)
        return { id, name, place }
      }),
    )
    const found = new Map<string, Place>()
    for (const { id, name, place } of places) {
      const before = found.get(id)
      // Of two with one id, the one whose folder has that name counts.
      const [winner, loser] = before === undefined || name === id ? [place, before] : [before, place]
      if (loser !== undefined) this.#reportOverridden(id, loser)
      found.set(id, winner)
    }
    return found
  }

  #reportOverridden(id: string, { directory }: Place): void {
    if (this.#reported.has(directory)) return
    this.#reported.add(directory)
    this.#options.onProblem(`The adapter ${id} of ${directory} is left out: another adapter has that id.`)
  }

  async #load(place: Place | undefined): Promise<LoadedAdapter | undefined> {
    if (place === undefined) return undefined
    const { directory, source } = place
    // Bundled adapters only change with this program.
    const state = source === 'bundled' ? '' : await stateOf(directory)
    const known = this.#loaded.get(directory)
    if (known?.state === state) return known.adapter
    const adapter = this.#read(place)
    this.#loaded.set(directory, { state, adapter })
    return adapter
  }

  async #read({ directory, source }: Place): Promise<LoadedAdapter | undefined> {
    const name = basename(directory)
    // The catalogue was checked when it was built.
    if (directory === join(catalogPath, name)) {
      const bundled = (await (this.#catalogue ??= readCatalogue())).get(name)
      return bundled === undefined ? undefined : { ...bundled, source }
    }
    const [{ formatProblem }, { readAgentCli }] = await Promise.all([
      import('@agentproto/manifest'),
      import('@agentproto/manifest/node'),
    ])
    const { sandboxProviders = [] } = this.#options
    const result = await readAgentCli(join(directory, 'AGENT-CLI.md'), { sandboxProviders })
    if (!result.ok)
      return this.#leaveOut(
        directory,
        `The adapter ${name} is left out:\n${result.problems.map(formatProblem).join('\n')}`,
      )
    const problem = await endpointProblem(result.manifest, { directory, source })
    if (problem !== undefined) return this.#leaveOut(directory, `The adapter ${name} is left out: ${problem}.`)
    return { ...result, source }
  }

  #leaveOut(directory: string, why: string): undefined {
    this.#leftOut.set(directory, why)
    this.#options.onProblem(why)
  }

  async #summary({ manifest, source }: LoadedAdapter): Promise<AdapterSummary> {
    const installed = await this.#options.isInstalled(manifest)
    const { unverified } = launchHints(manifest)
    return {
      slug: manifest.id,
      name: manifest.name,
      description: manifest.description,
      version: manifest.version,
      protocol: manifest.protocol,
      installed,
      source,
      ...(installed ? {} : { installHint: `agentproto adapters install ${manifest.id}` }),
      ...(unverified.length === 0 ? {} : { unverified }),
      ...(await adapterOrigin(manifest)),
      ...defined({ endpoint: endpointSummary(manifest) }),
      ...offersOf(manifest),
      session: sessionPolicy(manifest),
    }
  }
}

/** What a start may choose, without the arguments and variables that pass it to the agent. */
function offersOf({ modes, models, options }: AgentCliManifest): Offers {
  return {
    modes: modes.map(({ id }) => id),
    modeDescriptions: Object.fromEntries(
      modes.flatMap(({ id, description }) => (description === undefined ? [] : [[id, description]])),
    ),
    models: defined({ default: models.default, allowed: models.allowed }),
    options: options.map(optionOf),
  }
}

type Offers = Pick<AdapterSummary, 'modes' | 'modeDescriptions' | 'models' | 'options'>

function optionOf(option: Option): AdapterOption {
  const { id, description } = option
  const base = { id, ...defined({ description }) }
  switch (option.type) {
    case 'boolean':
      return { ...base, type: option.type, ...defined({ default: option.default }) }
    case 'integer':
      return { ...base, type: option.type, ...defined({ default: option.default, min: option.min, max: option.max }) }
    case 'string':
      return { ...base, type: option.type, ...defined({ default: option.default }) }
    case 'enum':
      return { ...base, type: option.type, enum: option.enum, ...defined({ default: option.default }) }
  }
}

/** The folder of an adapter. */
interface Place {
  readonly directory: string
  readonly source: AdapterSummary['source']
}

type Places = ReadonlyMap<string, Place>

/** The folders that may have an adapter, in the order of their names. */
async function foldersIn(path: string): Promise<readonly string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && ADAPTER_SLUG.test(entry.name))
    .map(({ name }) => name)
    .sort()
}

/** Changes when an adapter is edited: time, size and number of its files. */
async function stateOf(directory: string): Promise<string> {
  const names = await readdir(directory).catch(() => [])
  const files = names.filter((name) => name.endsWith('.md')).slice(0, FILES_MAX)
  const states = await Promise.all(
    files.map(async (name) => {
      const { mtimeMs, size, ino } = await stat(join(directory, name)).catch(() => ({ mtimeMs: 0, size: 0, ino: 0 }))
      return [name, mtimeMs, size, ino]
    }),
  )
  return JSON.stringify(states)
}

/** An adapter has five files at most; further files are ignored. */
const FILES_MAX = 32
