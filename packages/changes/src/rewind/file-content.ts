import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, open, readlink } from 'node:fs/promises'
import { codeOf } from '../git-errors.js'
import type { TreeEntry } from '../shadow/tree-diff.js'

export type Existing =
  | { readonly kind: 'absent' }
  | { readonly kind: 'folder' }
  /** A file as git would record it, with its permissions. */
  | { readonly kind: 'file'; readonly entry: TreeEntry; readonly permissions: number }
  /** Neither, or too large to be recorded. */
  | { readonly kind: 'other' }

/** What is at a place, without following a link. */
export async function readExisting(at: string | Buffer, maxBytes: number): Promise<Existing> {
  const stats = await lstat(at).catch((thrown: unknown) => {
    if (codeOf(thrown) === 'ENOENT') return undefined
    throw thrown
  })
  if (stats === undefined) return { kind: 'absent' }
  if (stats.isDirectory()) return { kind: 'folder' }
  if (stats.isSymbolicLink()) {
    const entry = { mode: '120000', oid: blobId(await readlink(at, 'buffer')) }
    return { kind: 'file', entry, permissions: stats.mode & 0o777 }
  }
  if (!stats.isFile() || stats.size > maxBytes) return { kind: 'other' }
  return readRegular(at, maxBytes)
}

/** Whether two sides of a change are the same file. */
export const isSameEntry = (a: TreeEntry | undefined, b: TreeEntry | undefined): boolean =>
  a?.oid === b?.oid && a?.mode === b?.mode

/** A regular file or a link as git would record it, with its content; absent for anything else. */
export async function readRecordable(at: string | Buffer, maxBytes: number): Promise<Recordable | undefined> {
  const stats = await lstat(at)
  if (stats.isSymbolicLink()) return { mode: '120000', content: await readlink(at, 'buffer') }
  if (!stats.isFile()) return undefined
  const file = await open(at, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  try {
    const { mode, size } = await file.stat()
    if (size > maxBytes) return undefined
    return { mode: (mode & 0o100) === 0 ? '100644' : '100755', content: await file.readFile() }
  } finally {
    await file.close()
  }
}

export interface Recordable {
  readonly mode: string
  readonly content: Buffer
}

async function readRegular(at: string | Buffer, maxBytes: number): Promise<Existing> {
  // Windows has neither flag.
  const file = await open(at, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  try {
    const stats = await file.stat()
    if (!stats.isFile() || stats.size > maxBytes) return { kind: 'other' }
    const mode = (stats.mode & 0o100) === 0 ? '100644' : '100755'
    return { kind: 'file', entry: { mode, oid: blobId(await file.readFile()) }, permissions: stats.mode & 0o777 }
  } finally {
    await file.close()
  }
}

/** The id that git gives to content. */
export const blobId = (content: Buffer): string =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')
