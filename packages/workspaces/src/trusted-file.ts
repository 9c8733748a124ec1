import { readFile } from 'node:fs/promises'
import { AgentprotoError } from '@agentproto/contracts'
import * as z from 'zod'
import { codeOf } from './workspaces-file.js'

/** The file `trusted.json`: a file of its own, since AIP-46 says what is in `workspaces.json`. */

// Loose: a key that another version wrote survives our writing.
const folderSchema = z.looseObject({ path: z.string().min(1), trustedAt: z.string() })
const fileSchema = z.looseObject({ version: z.literal(1), trusted: z.array(folderSchema) })

export type StoredTrust = z.infer<typeof fileSchema>

/** What the file holds; undefined when it is not what this version writes. @throws `storage_failed` */
export async function readTrustedFile(path: string): Promise<StoredTrust | undefined> {
  try {
    return parse(await readFile(path, 'utf8'))
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return { version: 1, trusted: [] }
    throw new AgentprotoError('storage_failed', `The file of trusted folders cannot be read: ${path}.`, {
      cause: thrown,
    })
  }
}

function parse(text: string): StoredTrust | undefined {
  try {
    return fileSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** Replaces the file as a whole. @throws `storage_failed` */
export async function writeTrustedFile(path: string, content: StoredTrust): Promise<void> {
  const { default: writeFileAtomic } = await import('write-file-atomic')
  try {
    await writeFileAtomic(path, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  } catch (thrown) {
    throw new AgentprotoError('storage_failed', `The file of trusted folders cannot be written: ${path}.`, {
      cause: thrown,
    })
  }
}
