import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { ToolCall, ToolKind } from '@agentproto/contracts'
import { lineOf } from './command-words.js'
import { realPath, realPathsOf } from './real-path.js'

/**
 * What a tool call does, judged by its kind, locations, raw input and diffs. Its title is for people and proves nothing.
 */

export interface ToolFacts {
  /** Its kind by its input: with a command it is `execute`, with a diff `edit`, whatever kind it states. */
  readonly kind: ToolKind | undefined
  /** Its kind as the agent states it. */
  readonly statedKind: ToolKind | undefined
  /** It leaves a plan, which decides about everything that follows. */
  readonly leavesPlan: boolean
  /** Every file and folder that it names, links resolved. */
  readonly paths: readonly string[]
  /** Folders beside the session's own that its commands run in, links resolved. */
  readonly folders: readonly string[]
  /** Its command lines. */
  readonly commands: readonly string[]
  /** A part of it cannot be judged, so it may be denied but not allowed. */
  readonly unclear: boolean
  /** A path or a command contains NUL. */
  readonly nul: boolean
  /** Digest of everything that it does; undefined for a call with only a title. */
  readonly digest: string | undefined
}

/** @param cwd Of the session; relative paths begin there */
export async function factsOf(call: ToolCall, cwd: string): Promise<ToolFacts> {
  const found = new Found()
  found.read(call.input)
  for (const { path } of call.locations ?? []) found.paths.add(path)
  for (const item of call.content ?? []) if (item.type === 'diff') found.paths.add(item.path)
  const folders = await resolved(found.folders, [cwd])
  const own = await realPath(cwd)
  const paths = await resolved(found.paths, [cwd, ...folders.real])
  const kind = judgedKind(call, found.commands.size > 0)
  return {
    kind,
    statedKind: call.kind,
    leavesPlan: call.kind === 'switch_mode' || PLAN_EXIT.has(normal(call.toolName ?? '')),
    paths: paths.real,
    folders: folders.real.filter((folder) => folder !== own),
    commands: [...found.commands],
    unclear: found.unclear || !paths.all || !folders.all || (kind === 'search' && found.roams),
    nul: [...found.paths, ...found.folders, ...found.commands].some((text) => text.includes('\0')),
    digest: digestOf(call, { kind, paths: paths.real }),
  }
}

const PLAN_EXIT: ReadonlySet<string> = new Set(['exitplanmode', 'exitplan', 'planexit', 'switchmode'])

function judgedKind({ kind, content = [] }: ToolCall, runs: boolean): ToolKind | undefined {
  if (runs && kind !== 'switch_mode') return 'execute'
  const edits = content.some(({ type }) => type === 'diff')
  return edits && (kind === undefined || HARMLESS.has(kind)) ? 'edit' : kind
}

const HARMLESS: ReadonlySet<ToolKind> = new Set(['read', 'search', 'think', 'fetch', 'other'])

/** Collects paths, folders and commands of a raw input, by the member names that agents use. */
class Found {
  readonly paths = new Set<string>()
  readonly folders = new Set<string>()
  readonly commands = new Set<string>()
  unclear = false
  /** A pattern that leaves the folder that is searched. */
  roams = false
  #left = MAX_MEMBERS

  read(value: unknown, depth = 0): void {
    if (typeof value !== 'object' || value === null) return
    if (depth > MAX_DEPTH) return void (this.unclear = true)
    for (const [key, member] of Object.entries(value)) {
      if (--this.#left < 0) return void (this.unclear = true)
      this.#member(normal(key), member)
      this.read(member, depth + 1)
    }
  }

  #member(key: string, value: unknown): void {
    if (COMMANDS.has(key)) this.#command(value)
    if (FOLDERS.has(key)) this.#text(this.folders, value)
    if (PATHS.has(key)) this.#text(this.paths, value)
    if (key === 'changes') this.#text(this.paths, Object.keys(value ?? {}))
    // An environment and an input decide what a command does.
    if (STEERING.has(key) && hasSomething(value)) this.unclear = true
    if (typeof value === 'string') this.#string(key, value)
  }

  #string(key: string, value: string): void {
    if (URIS.has(key) && value.startsWith('file:')) this.#uri(value)
    if (PATTERNS.has(key) && ROAMING.test(value)) this.roams = true
  }

  #command(value: unknown): void {
    if (typeof value === 'string') this.commands.add(value)
    else if (Array.isArray(value) && value.every((word) => typeof word === 'string')) this.commands.add(lineOf(value))
    else if (hasSomething(value)) this.unclear = true
  }

  #text(into: Set<string>, value: unknown): void {
    for (const text of Array.isArray(value) ? value : [value])
      if (typeof text === 'string' && text !== '') into.add(text)
  }

  #uri(value: string): void {
    try {
      this.paths.add(fileURLToPath(value))
    } catch {
      this.unclear = true
    }
  }
}

const MAX_DEPTH = 8
const MAX_MEMBERS = 5_000

const normal = (name: string): string => name.toLowerCase().replaceAll(/[-_. ]/g, '')

const COMMANDS: ReadonlySet<string> = new Set(['command', 'cmd', 'commandline', 'shellcommand', 'script', 'commands'])
const FOLDERS: ReadonlySet<string> = new Set(['cwd', 'workdir', 'workingdir', 'workingdirectory'])
const URIS: ReadonlySet<string> = new Set(['uri', 'url', 'fileuri'])
const PATTERNS: ReadonlySet<string> = new Set(['pattern', 'glob', 'include', 'includepattern', 'globpattern'])
const STEERING: ReadonlySet<string> = new Set(['env', 'environment', 'stdin'])
const PATHS: ReadonlySet<string> = new Set(
  `path paths filepath filepaths file files filename absolutepath abspath relativepath relativeworkspacepath notebookpath
  targetfile targetpath targetdirectory source sourcepath destination destinationpath oldpath newpath movepath directory
  directorypath dirpath dir folder`.split(/\s+/),
)

/** Absolute, in a home, or with a step up. */
const ROAMING = /^[/~\\]|^[A-Za-z]:|(?:^|[/\\{,])\.\.(?:[/\\},]|$)/

const hasSomething = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && (typeof value !== 'object' || Object.keys(value).length > 0)

async function resolved(
  given: ReadonlySet<string>,
  bases: readonly string[],
): Promise<{ readonly real: readonly string[]; readonly all: boolean }> {
  const real = await Promise.all(Array.from(given, (path) => realPathsOf(path, bases)))
  return { real: [...new Set(real.flatMap((paths) => paths ?? []))], all: !real.includes(undefined) }
}

/** Equal for the same call in another request: without ids and times, with the real paths. */
function digestOf(
  { kind, toolName, input, content = [] }: ToolCall,
  { paths, ...judged }: Pick<ToolFacts, 'kind' | 'paths'>,
): string | undefined {
  const diffs = content.filter(({ type }) => type === 'diff')
  if (!hasSomething(input) && diffs.length === 0 && paths.length === 0) return undefined
  const all = [kind, judged.kind, toolName, canonical(input), canonical(diffs), paths.toSorted()]
  return createHash('sha256').update(JSON.stringify(all)).digest('hex')
}

/** With keys in order and without what differs from call to call. */
function canonical(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value
  // Deeper values are compared by their text.
  if (depth > MAX_DEPTH) return JSON.stringify(value)
  if (Array.isArray(value)) return value.map((item) => canonical(item, depth + 1))
  const entries = Object.entries(value).filter(([key]) => depth > 0 || !PASSING.has(normal(key)))
  return entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, member]) => [key, canonical(member, depth + 1)])
}

const PASSING: ReadonlySet<string> = new Set([
  'callid',
  'toolcallid',
  'turnid',
  'requestid',
  'startedatms',
  'timestamp',
])
