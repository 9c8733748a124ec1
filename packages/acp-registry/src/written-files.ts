import { createHash } from 'node:crypto'

type Files = ReadonlyMap<string, string>

/** Where a manifest says how it was written: 64 zeros, or the digest of its files with 64 zeros in that place. */
const DIGEST = /^( +written_sha256: )"([0-9a-f]{64})"$/m

/** The value that {@link sealed} replaces. */
export const UNSEALED = '0'.repeat(64)

/** The files, with their own digest in the manifest, by which an edit is seen. */
export function sealed<Name extends string>(files: ReadonlyMap<Name, string>): ReadonlyMap<Name, string> {
  const digest = digestOf(files)
  return new Map([...files].map(([name, text]) => [name, text.replace(DIGEST, `$1"${digest}"`)]))
}

/** Whether the files of an adapter are those that were written from an entry. */
export function isAsWritten(files: Files): boolean {
  const digests = [...files.values()].map((text) => DIGEST.exec(text)?.[2]).filter((digest) => digest !== undefined)
  return digests.length === 1 && digests[0] === digestOf(files)
}

function digestOf(files: Files): string {
  const blank = [...files].map(([name, text]) => [name, text.replace(DIGEST, `$1"${UNSEALED}"`)] as const)
  return createHash('sha256')
    .update(JSON.stringify(blank.toSorted(([a], [b]) => (a < b ? -1 : 1))))
    .digest('hex')
}
