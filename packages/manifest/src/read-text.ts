import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { type ManifestProblem, type ProblemCode, ProblemList, type ProblemParts } from './problem.js'
import { createSourceText } from './source-text.js'

const FILE_BYTES_MAX = 4 * 1024 * 1024

export type ReadText = { readonly ok: true; readonly text: string } | Unread

interface Unread {
  readonly ok: false
  readonly problems: readonly ManifestProblem[]
  readonly missing: boolean
  readonly isFolder: boolean
}

/**
 * Reads a UTF-8 file; reports when it is missing, too large or not text. A device or a pipe is refused: the one has
 * no end, and the other may have no writer. Synchronous, because each asynchronous step of a small file takes
 * longer than reading it.
 */
export function readText(path: string): ReadText {
  try {
    const file = openSync(path, OPEN_FLAGS)
    try {
      const stats = fstatSync(file)
      if (stats.isDirectory()) return refuseCode(path, 'EISDIR')
      if (!stats.isFile()) return refuseCode(path, 'not a regular file')
      if (stats.size > FILE_BYTES_MAX) return refuseSize(path, stats.size)
      return decode(readFileSync(file), path)
    } finally {
      closeSync(file)
    }
  } catch (thrown) {
    return refuseCode(path, thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown')
  }
}

// Opening a pipe would wait for its writer. Windows has no such flag.
const OPEN_FLAGS = constants.O_RDONLY | ((constants.O_NONBLOCK as number | undefined) ?? 0)

const READ_FAILURES: Readonly<Record<string, string>> = {
  ENOENT: 'There is no such file.',
  ENOTDIR: 'There is no such file.',
  EISDIR: 'This is a folder, not a file.',
  EACCES: 'You do not have permission to read the file.',
}

const refuseCode = (path: string, code: string): ReadText => ({
  ...refuse(path, 'file_unreadable', { message: READ_FAILURES[code] ?? `The file cannot be read (${code}).` }),
  missing: code === 'ENOENT' || code === 'ENOTDIR',
  isFolder: code === 'EISDIR',
})

const refuseSize = (path: string, given: number): ReadText =>
  refuse(path, 'file_too_large', {
    message: 'The file is too large for a manifest.',
    expected: `at most ${FILE_BYTES_MAX} bytes`,
    given,
  })

function decode(bytes: Buffer, path: string): ReadText {
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch {
    const text = bytes.toString('utf8')
    const parts = { message: 'The file is not UTF-8.', expected: 'a text file, saved as UTF-8' }
    return refuse(path, 'encoding_invalid', { ...parts, text, offset: firstDifference(text, bytes) })
  }
}

/** Offset of the first replacement character that the file itself does not contain. */
function firstDifference(text: string, bytes: Buffer): number {
  for (let at = text.indexOf('\ufffd'); at !== -1; at = text.indexOf('\ufffd', at + 1)) {
    const before = Buffer.byteLength(text.slice(0, at))
    if (!bytes.subarray(before, before + 3).equals(Buffer.from('\ufffd'))) return at
  }
  return 0
}

interface Refusal extends ProblemParts {
  readonly text?: string
  readonly offset?: number
}

function refuse(path: string, code: ProblemCode, { text = '', offset = 0, ...parts }: Refusal): Unread {
  const problems = new ProblemList(createSourceText(text, path))
  problems.error(code, offset, parts)
  return { ok: false, problems: problems.sorted(), missing: false, isFolder: false }
}
