import { AgentprotoError, systemClock } from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import { type Changed, JsonFile } from '@agentproto/json-file'
import * as z from 'zod'
import { realFolder, realFolderIfAny } from './folder.js'
import type { WorkspacesOptions } from './workspaces.js'

/** A folder whose own adapters, in `.agentproto/adapters`, the owner allows. */
export interface TrustedFolder {
  /** Its real path. */
  readonly path: string
  /** ISO-8601. */
  readonly trustedAt: string
}

/**
 * Which folders the owner trusts. Trust belongs to a folder and not to the name of a workspace, which could be given
 * to another folder. It belongs to the real path: a link that is pointed elsewhere later is not trusted there.
 */
export type WorkspaceTrust = ReturnType<typeof createWorkspaceTrust>

const TRUSTED_MAX = 1_000

// Loose: a key that another version wrote is kept when we write.
const folderSchema = z.looseObject({ path: z.string().min(1), trustedAt: z.string() })
const fileSchema = z.looseObject({ version: z.literal(1), trusted: z.array(folderSchema) })
type StoredTrust = z.infer<typeof fileSchema>

/**
 * The trusted folders of a home, in its `trusted.json`: a file of its own, because AIP-46 defines what is in
 * `workspaces.json`. Every call reads the file; every change is made under a lock.
 */
export function createWorkspaceTrust({ home, clock = systemClock, onWarning }: Omit<WorkspacesOptions, 'defaultCwd'>) {
  const path = homeLayout(home).trusted
  const empty: StoredTrust = { version: 1, trusted: [] }
  const file = new JsonFile({ path, what: 'file of trusted folders', schema: fileSchema, empty, clock, onWarning })
  // Warn once about a file, however often it is read.
  let warned = false

  return {
    /** None where the file cannot be read: what is not known is not trusted. */
    list: async (): Promise<readonly TrustedFolder[]> => {
      const { content, problem } = await file.read()
      if (problem !== undefined && !warned) onWarning?.(`No folder is trusted: ${path} cannot be read: ${problem}.`)
      warned = problem !== undefined
      return content.trusted.map(toFolder)
    },
    /** Idempotent. @throws `path_invalid`, `storage_failed`, `workspace_invalid` when there are too many */
    trust: async (folder: string): Promise<TrustedFolder> => {
      const real = await realFolder(folder, { what: 'The path of the folder', code: 'path_invalid' })
      return file.change((before) => withTrust(before, real, new Date(clock.now()).toISOString()))
    },
    /** Revokes the trust, even of a folder that no longer exists. @returns whether it was trusted. @throws `storage_failed` */
    distrust: async (folder: string): Promise<boolean> => {
      const revoked = new Set([folder, await realFolderIfAny(folder)])
      return file.change((before) => {
        const trusted = before.trusted.filter((entry) => !revoked.has(entry.path))
        return trusted.length === before.trusted.length ? [before, false] : [{ ...before, trusted }, true]
      })
    },
  }
}

function withTrust(file: StoredTrust, path: string, trustedAt: string): Changed<StoredTrust, TrustedFolder> {
  const known = file.trusted.find((entry) => entry.path === path)
  if (known !== undefined) return [file, toFolder(known)]
  if (file.trusted.length >= TRUSTED_MAX)
    throw new AgentprotoError('workspace_invalid', 'There are too many trusted folders.', {
      expected: `at most ${TRUSTED_MAX}`,
      hint: 'Revoke the trust of one first: agentproto workspace distrust <slug>',
    })
  const added = { path, trustedAt }
  return [{ ...file, trusted: [...file.trusted, added] }, added]
}

const toFolder = ({ path, trustedAt }: TrustedFolder): TrustedFolder => ({ path, trustedAt })
