import { AgentprotoError, homeLayout, systemClock } from '@agentproto/contracts'
import type { Clock } from '@agentproto/contracts'
import { realFolder, realFolderIfAny } from './folder.js'
import { readTrustedFile, writeTrustedFile } from './trusted-file.js'
import type { StoredTrust } from './trusted-file.js'
import { moveAside, withLock } from './workspaces-file.js'
import type { WorkspacesOptions } from './workspaces.js'

/** A folder whose own adapters, in `.agentproto/adapters`, the owner lets in. */
export interface TrustedFolder {
  /** Its real path. */
  readonly path: string
  /** ISO-8601. */
  readonly trustedAt: string
}

/**
 * Which folders the owner trusts. Trust is in a folder and not in a workspace's name, which could be given to
 * another one, and it is by its real path: a link that is turned elsewhere is not trusted there.
 */
export interface WorkspaceTrust {
  /** None where the file cannot be read: what is not known is not trusted. */
  list(): Promise<readonly TrustedFolder[]>
  /** Idempotent. @throws `path_invalid`, `storage_failed`, `workspace_invalid` when there are too many */
  trust(path: string): Promise<TrustedFolder>
  /** Takes the trust back, also from a folder that is gone. @returns whether it was trusted. @throws `storage_failed` */
  distrust(path: string): Promise<boolean>
}

const TRUSTED_MAX = 1_000

/** The trusted folders of a home, in its `trusted.json`. Every call reads the file; every change is made under a lock. */
export function createWorkspaceTrust({
  home,
  clock = systemClock,
  onWarning = ignore,
}: Omit<WorkspacesOptions, 'defaultCwd'>): WorkspaceTrust {
  const path = homeLayout(home).trusted
  // Once for a file, however often it is asked.
  let warned = false

  const change = <T>(run: (before: StoredTrust) => readonly [StoredTrust, T]): Promise<T> =>
    withLock(path, async (isHeld) => {
      const before = (await readTrustedFile(path)) ?? (await beginAnew(path, clock, onWarning))
      const [after, result] = run(before)
      if (after !== before) {
        if (!isHeld())
          throw new AgentprotoError('storage_failed', 'The lock on the trusted folders was lost.', {
            hint: 'Try again.',
          })
        await writeTrustedFile(path, after)
      }
      return result
    })

  return {
    list: async () => {
      const file = await readTrustedFile(path)
      if (file === undefined && !warned) onWarning(`No folder is trusted: ${path} cannot be read.`)
      warned = file === undefined
      return (file?.trusted ?? []).map(toFolder)
    },
    trust: async (folder) => {
      const real = await realFolder(folder, { what: 'The path of the folder', code: 'path_invalid' })
      return change((file) => withTrust(file, real, new Date(clock.now()).toISOString()))
    },
    distrust: async (folder) => {
      const gone = new Set([folder, await realFolderIfAny(folder)])
      return change((file) => {
        const trusted = file.trusted.filter((entry) => !gone.has(entry.path))
        return trusted.length === file.trusted.length ? [file, false] : [{ ...file, trusted }, true]
      })
    },
  }
}

const ignore = (): void => {}

function withTrust(file: StoredTrust, path: string, trustedAt: string): readonly [StoredTrust, TrustedFolder] {
  const known = file.trusted.find((entry) => entry.path === path)
  if (known !== undefined) return [file, toFolder(known)]
  if (file.trusted.length >= TRUSTED_MAX) {
    throw new AgentprotoError('workspace_invalid', 'There are too many trusted folders.', {
      expected: `at most ${TRUSTED_MAX}`,
    })
  }
  return [
    { ...file, trusted: [...file.trusted, { path, trustedAt }] },
    { path, trustedAt },
  ]
}

/** Moves an unreadable file aside; the list begins with nothing trusted. */
async function beginAnew(path: string, clock: Clock, onWarning: (message: string) => void): Promise<StoredTrust> {
  const aside = await moveAside(path, clock.now())
  onWarning(`The file of trusted folders could not be read; it was moved to ${aside}, and nothing of it is trusted.`)
  return { version: 1, trusted: [] }
}

const toFolder = ({ path, trustedAt }: TrustedFolder): TrustedFolder => ({ path, trustedAt })
