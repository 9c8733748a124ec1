import { mkdir, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AgentprotoError } from '@agentproto/contracts'
import * as z from 'zod'

/** The file `workspaces.json`: read, moved aside when unreadable, replaced as a whole under a lock. */

export const SLUG = /^[a-z0-9][a-z0-9-]*$/
export const SLUG_CHARS_MAX = 80

const slug = z.string().max(SLUG_CHARS_MAX).regex(SLUG)

// Loose: a key that another version wrote survives our writing.
const workspaceSchema = z.looseObject({
  slug,
  path: z.string().min(1),
  addedAt: z.string(),
  updatedAt: z.string(),
  label: z.string().exactOptional(),
})

const fileSchema = z.looseObject({
  version: z.literal(1),
  active: slug.exactOptional(),
  workspaces: z.array(workspaceSchema),
})

export type StoredWorkspaces = z.infer<typeof fileSchema>
export type StoredWorkspace = z.infer<typeof workspaceSchema>

export const emptyFile = (): StoredWorkspaces => ({ version: 1, workspaces: [] })

export type FileState =
  | { readonly state: 'absent' }
  | { readonly state: 'read'; readonly content: StoredWorkspaces }
  | { readonly state: 'unreadable'; readonly reason: string }

/** What the file holds. @throws `storage_failed` when the disk refuses for another reason than its content */
export async function readWorkspacesFile(path: string): Promise<FileState> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return { state: 'absent' }
    throw new AgentprotoError('storage_failed', `The workspaces file cannot be read: ${path}.`, { cause: thrown })
  }
  return parse(text)
}

function parse(text: string): FileState {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { state: 'unreadable', reason: 'it is not JSON' }
  }
  const result = fileSchema.safeParse(value)
  if (result.success) return { state: 'read', content: result.data }
  const [issue] = result.error.issues
  const place = issue === undefined || issue.path.length === 0 ? 'it' : `its ${issue.path.join('.')}`
  return { state: 'unreadable', reason: `${place} is not what this version writes` }
}

/** Moves an unreadable file to a name of its own and says which. Call it under the lock only. */
export async function moveAside(path: string, now: number): Promise<string> {
  const stamp = new Date(now).toISOString().replace(/[:.]/g, '-')
  const aside = `${path}.unreadable-${stamp}`
  await rename(path, aside)
  return aside
}

/** Replaces the file; readers see the old or the new one, whole. @throws `storage_failed` */
export async function writeWorkspacesFile(path: string, content: StoredWorkspaces): Promise<void> {
  // Loaded on the first write: most processes only read.
  const { default: writeFileAtomic } = await import('write-file-atomic')
  try {
    await writeFileAtomic(path, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  } catch (thrown) {
    throw new AgentprotoError('storage_failed', `The workspaces file cannot be written: ${path}.`, { cause: thrown })
  }
}

/** Runs with the file locked against every other process. @throws `storage_failed` */
export async function withLock<T>(path: string, run: (isHeld: () => boolean) => Promise<T>): Promise<T> {
  const { lock } = await import('proper-lockfile')
  let held = true
  let release: () => Promise<void>
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    release = await lock(path, {
      // The file need not exist yet.
      realpath: false,
      // About ten seconds in all; a dead holder's lock is taken over after five.
      retries: { retries: 150, factor: 1.2, minTimeout: 5, maxTimeout: 100, randomize: true },
      stale: 5_000,
      onCompromised: () => (held = false),
    })
  } catch (thrown) {
    throw new AgentprotoError('storage_failed', `The workspaces file cannot be locked: ${path}.`, {
      hint: `Try again; when no agentproto is running, remove ${path}.lock.`,
      cause: thrown,
    })
  }
  try {
    return await run(() => held)
  } finally {
    // A lock that was taken over is no longer ours to release.
    if (held) await release().catch(() => undefined)
  }
}

export const codeOf = (thrown: unknown): string | undefined =>
  thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined
