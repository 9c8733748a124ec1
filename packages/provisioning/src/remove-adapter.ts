import { lstat, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentprotoError } from '@agentproto/contracts'
import { type AdapterSummary, homeLayout } from '@agentproto/contracts/agent'
import { agentPrefix, own, removeOwned } from '@agentproto/driver-agent-cli/installation'
import { adapterFolder } from './adapter-folder.js'
import { siblingOf } from './install/prefix-change.js'
import { ledgerFile } from './ledger.js'

type Source = AdapterSummary['source']

export interface RemoveAdapter {
  readonly home: string
  /** Where another adapter of this name is; its installed agent and its setup stay. */
  readonly otherSource: () => Promise<Source | undefined>
  /** Ids of the sessions that run it now. */
  readonly liveSessions: () => Promise<readonly string[]>
}

/**
 * Removes an adapter of the owner: its folder in the home and, unless another adapter has its name, its installed agent and the
 * record of its setup. Secrets and sessions stay. An adapter whose manifest is not valid is removed too.
 * @returns whether the agent was removed too
 * @throws `adapter_not_found` for one that is not in the home, `session_live`, `provisioning_busy`
 */
export async function removeAdapter(
  slug: string,
  { home, otherSource, liveSessions }: RemoveAdapter,
): Promise<boolean> {
  const { adapters, provisioning } = homeLayout(home)
  const folder = await adapterFolder(adapters, slug)
  if (folder === undefined) throw notOfTheHome(slug, await otherSource())
  return ledgerFile(slug, { home }).locked(async () => {
    refuseLive(slug, await liveSessions())
    await removeAside(folder)
    if ((await otherSource()) !== undefined) return false
    await removeAside(agentPrefix({ id: slug }, { home }))
    await rm(join(provisioning, `${slug}.json`), { force: true })
    return true
  })
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

function refuseLive(slug: string, live: readonly string[]): void {
  if (live.length === 0) return
  throw new AgentprotoError('session_live', `The adapter ${slug} is used by ${live.length} running sessions`, {
    given: live.slice(0, 5).join(', '),
    hint: 'End them first: agentproto sessions kill <id>',
  })
}

/** Moved aside first, so that no start finds half of it. A link is removed, and not what it leads to. */
async function removeAside(path: string): Promise<void> {
  if (!(await exists(path))) return
  const aside = siblingOf(path, 'tmp')
  await own(aside)
  await rename(path, aside)
  await removeOwned(aside)
}

function notOfTheHome(slug: string, source: Source | undefined): AgentprotoError {
  return new AgentprotoError(
    'adapter_not_found',
    `The adapter ${slug} cannot be removed: ${source === undefined ? 'there is none of that name' : REASONS[source]}`,
    {
      expected: 'an adapter of your own',
      given: slug,
      hint: 'See the sources of all adapters with `agentproto adapters list --json`',
    },
  )
}

const REASONS: Readonly<Record<Source, string>> = {
  user: 'it is not a folder of the home',
  bundled: 'it ships with agentproto',
  workspace: 'it is in the folder of a workspace that you trust',
  host: 'the program that runs the gateway provides it',
}
