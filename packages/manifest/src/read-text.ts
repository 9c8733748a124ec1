import { closeSync, constants, openSync, readSync } from 'node:fs'
import { createProblemList } from './problem.js'
import type { ManifestProblem, ProblemCode, ProblemParts } from './problem.js'
import { createSourceText } from './source-text.js'

const FILE_BYTES_MAX = 4 * 1024 * 1024
/** Most manifests fit into it. Nothing runs between a read and its decoding, so that one serves all. */
const firstBytes = Buffer.allocUnsafeSlow(16 * 1024)

export type ReadText =
  | { readonly ok: true; readonly text: string }
  | {
      readonly ok: false
      readonly problems: readonly ManifestProblem[]
      readonly missing: boolean
      readonly isFolder: boolean
    }

/**
 * Reads a file as UTF-8 and nothing else; says so when it is missing, too large or not text. What stands under the
 * name may be anything: a device has no end, and a pipe may have nobody who writes.
 */
export function readText(path: string): ReadText {
  try {
    const file = openSync(path, READ_AT_ONCE)
    try {
      const bytes = readAll(file)
      return bytes === undefined ? refuseSize(path) : decode(bytes, path)
    } finally {
      closeSync(file)
    }
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown'
    const message = READ_FAILURES[code] ?? `The file cannot be read (${code}).`
    return refuse(path, 'file_unreadable', {
      parts: { message },
      missing: code === 'ENOENT' || code === 'ENOTDIR',
      isFolder: code === 'EISDIR',
    })
  }
}

// Opening a pipe would wait for its writer, in one of the few threads that all files share. Windows has no such flag.
const READ_AT_ONCE = constants.O_RDONLY | ((constants.O_NONBLOCK as number | undefined) ?? 0)

/**
 * All bytes of a file, good until the next is read; `undefined` when they are too many. Synchronous: each asynchronous
 * step is a trip through another thread, which takes longer than the whole of a small file.
 */
function readAll(file: number): Buffer | undefined {
  let bytes = firstBytes
  for (let size = 0; size <= FILE_BYTES_MAX;) {
    if (size === bytes.length) bytes = Buffer.concat([bytes], size * 4)
    const read = readSync(file, bytes, size, bytes.length - size, null)
    if (read === 0) return bytes.subarray(0, size)
    size += read
  }
  return undefined
}

const refuseSize = (path: string): ReadText =>
  refuse(path, 'file_too_large', {
    parts: { message: 'The file is too large for a manifest.', expected: `at most ${FILE_BYTES_MAX} bytes` },
  })

const READ_FAILURES: Readonly<Record<string, string>> = {
  ENOENT: 'There is no such file.',
  ENOTDIR: 'There is no such file.',
  EISDIR: 'This is a folder, not a file.',
  EACCES: 'The file may not be read.',
}

function decode(bytes: Buffer, path: string): ReadText {
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch {
    const text = bytes.toString('utf8')
    const offset = firstDifference(text, bytes)
    return refuse(path, 'encoding_invalid', { text, offset, parts: { message: 'The file is not UTF-8.' } })
  }
}

/** Offset of the first replacement character that the file itself does not hold. */
function firstDifference(text: string, bytes: Buffer): number {
  for (let at = text.indexOf('\ufffd'); at !== -1; at = text.indexOf('\ufffd', at + 1)) {
    const before = Buffer.byteLength(text.slice(0, at))
    if (!bytes.subarray(before, before + 3).equals(Buffer.from('\ufffd'))) return at
  }
  return 0
}

interface Refusal {
  readonly parts: ProblemParts
  readonly text?: string
  readonly offset?: number
  readonly missing?: boolean
  readonly isFolder?: boolean
}

function refuse(path: string, code: ProblemCode, refusal: Refusal): ReadText {
  const { parts, text = '', offset = 0, missing = false, isFolder = false } = refusal
  const problems = createProblemList(createSourceText(text, path))
  problems.error(code, offset, parts)
  return { ok: false, problems: problems.sorted(), missing, isFolder }
}
