import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isAsWritten } from '@agentproto/acp-registry'
import { MANIFEST_NAMES } from '@agentproto/manifest'
import type { LoadedAgentCli } from '@agentproto/manifest/node'

/** Whether the owner has changed an adapter that was written from an entry, or added a file to it. */
export async function isEdited({ directory }: Pick<LoadedAgentCli, 'directory'>): Promise<boolean> {
  const names = (await readdir(directory)).filter((name) => MANIFEST_NAMES.some((known) => known === name))
  const files = await Promise.all(
    names.map(async (name) => [name, await readFile(join(directory, name), 'utf8')] as const),
  )
  return !isAsWritten(new Map(files))
}
