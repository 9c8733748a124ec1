import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentprotoError } from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import type { AgentHost } from '@agentproto/driver-agent-cli'
import { makeOwned, removeOwned } from '@agentproto/driver-agent-cli/installation'
import { MANIFEST_NAMES } from '@agentproto/manifest'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import { addAdapter, addWrittenAdapter } from './add-adapter.js'
import { ADAPTER_SLUG } from './adapter-slug.js'

/** An adapter that is in no folder yet. */
export interface AdapterTexts {
  readonly slug: string
  /** Texts by the names of manifests: `AGENT-CLI.md`, `ACP.md`. */
  readonly files: ReadonlyMap<string, string>
  /** The owner has named the address where the agent runs. */
  readonly mayHaveEndpoint?: boolean
}

/**
 * Writes an adapter into the home, as `addAdapter` copies one: checked first, replaced as a whole, with what its owner changed in it.
 * @throws `path_invalid`, `manifest_invalid` with every problem; then what was there stays
 */
export async function addAdapterFiles(
  { slug, files, mayHaveEndpoint = false }: AdapterTexts,
  host: AgentHost,
  signal: AbortSignal,
): Promise<LoadedAgentCli> {
  if (!ADAPTER_SLUG.test(slug) || ![...files.keys()].every(isManifestName))
    throw new AgentprotoError('path_invalid', 'The adapter cannot be written', {
      expected: `a slug, and files called ${MANIFEST_NAMES.join(', ')}`,
      given: [slug, ...files.keys()].join(', '),
    })
  const { adapters } = homeLayout(host.home)
  await mkdir(adapters, { recursive: true, mode: 0o700 })
  const temporary = join(adapters, `.new-${randomBytes(4).toString('hex')}`)
  const folder = join(temporary, slug)
  try {
    await makeOwned(temporary)
    await mkdir(folder, { mode: 0o700 })
    for (const [name, text] of files) await writeFile(join(folder, name), text, { mode: 0o600 })
    return await (mayHaveEndpoint ? addWrittenAdapter(folder, host) : addAdapter(folder, host, signal))
  } finally {
    await removeOwned(temporary)
  }
}

const isManifestName = (name: string): boolean => MANIFEST_NAMES.some((known) => known === name)
