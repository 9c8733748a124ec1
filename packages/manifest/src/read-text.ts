import { open } from 'node:fs/promises'
import { createProblemList } from './problem.js'
import type { ManifestProblem, ProblemCode, ProblemParts } from './problem.js'
import { createSourceText } from './source-text.js'

const FILE_BYTES_MAX = 4 * 1024 * 1024

export type ReadText =
  | { readonly ok: true; readonly text: string }
  | {
      readonly ok: false
      readonly problems: readonly ManifestProblem[]
      readonly missing: boolean
      readonly isFolder: boolean
    }

/** Reads a file as UTF-8 and nothing else; says so when it is missing, too large or not text. */
export async function readText(path: string): Promise<ReadText> {
  try {
    const file = await open(path, 'r')
    try {
      const { size } = await file.stat()
      return size > FILE_BYTES_MAX ? refuseSize(path, size) : decode(await file.readFile(), path)
    } finally {
      await file.close()
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

const refuseSize = (path: string, size: number): ReadText =>
  refuse(path, 'file_too_large', {
    parts: {
      message: 'The file is too large for a manifest.',
      expected: `at most ${FILE_BYTES_MAX} bytes`,
      given: size,
    },
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
