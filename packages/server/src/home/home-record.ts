import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs'
import {
  AgentprotoError,
  asList,
  asNumber,
  asRecord,
  asString,
  defined,
  isRecord,
  parseJson,
} from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import { type HomeWriter, thisAgentproto } from '../version.js'
import { HOME_FORMAT } from './home-steps.js'

/** What `home.json` says: the format of the files of a home, and which agentproto wrote it. */
export interface HomeRecord {
  /** A whole number. A home without `home.json` has format 0. */
  readonly format: number
  /** The agentproto that served the home last. */
  readonly writtenBy: HomeWriter
  /** ISO-8601. */
  readonly writtenAt: string
  /** The last upgrades, the oldest first. */
  readonly upgrades: readonly HomeUpgrade[]
  /** The backup of a step to this format that is not finished. Nothing else may read the home until it is. */
  readonly pending?: string
}

/** One upgrade of a home, from one format to the next. */
export interface HomeUpgrade {
  readonly from: number
  readonly to: number
  /** ISO-8601. */
  readonly at: string
  /** The folder below the home with the files as they were; absent if none was changed. */
  readonly backup?: string
}

/** A larger file is not ours. */
const MAX_BYTES = 64 * 1024
/** Of a text from the file, in messages. */
const MAX_TEXT = 100
/** Of a format that the program can still count. */
const MAX_FORMAT = 1_000_000
const MAX_UPGRADES = 20

/**
 * Reads `home.json`. Of one by a newer agentproto, only `format` and `writtenBy` are relied on.
 * @returns undefined for a home of format 0, and for one that does not exist
 * @throws `home_invalid` for a file that cannot be read or is not valid: it must not count as an old home
 */
export function readHomeRecord(root: string): HomeRecord | undefined {
  const text = readRegularFile(root)
  if (text === undefined) return undefined
  const { format, writtenBy, writtenAt, upgrades, pending } = asRecord(parseJson(text))
  if (!isFormat(format) || format === 0) {
    throw homeInvalid(root, { expected: `"format", a whole number from 1 to ${MAX_FORMAT}`, given: format ?? text })
  }
  const { version, build } = asRecord(writtenBy)
  return {
    format,
    writtenBy: {
      version: printableText(version) ?? 'of an unknown version',
      ...defined({ build: printableText(build) }),
    },
    writtenAt: printableText(writtenAt) ?? '',
    upgrades: asList(upgrades).filter(isRecord).map(asUpgrade).slice(-MAX_UPGRADES),
    ...defined({ pending: asString(pending) }),
  }
}

/** The file's text for a record. */
export const homeRecordText = ({ upgrades, ...record }: HomeRecord): string =>
  `${JSON.stringify({ ...record, upgrades: upgrades.slice(-MAX_UPGRADES) }, undefined, 2)}\n`

/**
 * Refuses a home that this agentproto does not know. Called by everything that reads a home.
 * @returns its record, if it has one
 * @throws `home_newer`, `home_invalid`
 */
export function assertHomeReadable(root: string, by = thisAgentproto, known = HOME_FORMAT): HomeRecord | undefined {
  const record = readHomeRecord(root)
  if (record !== undefined && record.format > known) throw newer(root, { record, by, known })
  return record
}

interface Newer {
  readonly record: Pick<HomeRecord, 'format' | 'writtenBy'>
  readonly by: HomeWriter
  readonly known: number
}

const newer = (root: string, { record: { format, writtenBy }, by, known }: Newer): AgentprotoError =>
  new AgentprotoError(
    'home_newer',
    `The home ${root} was written by agentproto ${writerText(writtenBy)}, in format ${format}`,
    {
      expected: `at most format ${known}, which this agentproto ${writerText(by)} knows`,
      given: format,
      hint: 'Use that agentproto or a newer one, or set AGENTPROTO_HOME to another home',
      data: { format, knownFormat: known, writtenBy: { ...writtenBy } },
    },
  )

/** A version with its build, for people. */
const writerText = ({ version, build }: HomeWriter): string => (build === undefined ? version : `${version} (${build})`)

/** Whether this can be the format of a home. */
const isFormat = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_FORMAT

/** Undefined for a file that does not exist. No link is followed, and what is no file, such as a pipe, is not opened. */
function readRegularFile(root: string): string | undefined {
  const path = homeLayout(root).format
  try {
    if (!lstatSync(path).isFile())
      throw homeInvalid(root, { expected: 'a file', given: 'a link, a folder or a device' })
    const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
    try {
      const { size } = fstatSync(file)
      if (size > MAX_BYTES) throw homeInvalid(root, { expected: `at most ${MAX_BYTES} bytes`, given: `${size} bytes` })
      return readFileSync(file, 'utf8')
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    if (cause instanceof AgentprotoError) throw cause
    const { code = '' } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw homeInvalid(root, { expected: 'a file that this user can read', given: code, cause })
  }
}

interface InvalidParts {
  readonly expected: string
  readonly given: unknown
  readonly cause?: unknown
}

export const homeInvalid = (root: string, parts: InvalidParts): AgentprotoError =>
  new AgentprotoError(
    'home_invalid',
    `${homeLayout(root).format} is not valid, so the format of the home is not known`,
    {
      ...parts,
      hint: 'Restore the file. If no newer agentproto has used this home, move the file away',
    },
  )

function asUpgrade({ from, to, at, backup }: Readonly<Record<string, unknown>>): HomeUpgrade {
  const folder = printableText(backup)
  return {
    from: asNumber(from) ?? 0,
    to: asNumber(to) ?? 0,
    at: printableText(at) ?? '',
    ...defined({ backup: folder }),
  }
}

/** Texts of the file reach terminals. */
function printableText(value: unknown): string | undefined {
  const text = asString(value)
    ?.replace(/[^\x20-\x7e]/g, '?')
    .slice(0, MAX_TEXT)
  return text === '' ? undefined : text
}
