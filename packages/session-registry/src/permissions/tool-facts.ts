import { createHash } from 'node:crypto'
import { asRecord, type ToolCall, type ToolKind } from '@agentproto/contracts'
import { simpleCommands } from './command-words.js'
import { isInside, isPlain, realPath, realPathsOf } from './real-path.js'
import { hasSomething, MAX_DEPTH, normal, ToolInput } from './tool-input.js'

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
  /** Of a call that runs something: everything in it that may be a command. */
  readonly said: string
  /** A part of it cannot be judged, so it may be denied but not allowed. */
  readonly unclear: boolean
  /** A path or a command contains NUL. */
  readonly nul: boolean
  /** Digest of all of it, for rules that allow; undefined for a call with only a title. */
  readonly digest: string | undefined
  /** Digest without its title and without what may be an id or a time, for rules that deny. */
  readonly looseDigest: string | undefined
}

/** @param cwd Of the session; relative paths begin there */
export async function factsOf(call: ToolCall, cwd: string): Promise<ToolFacts> {
  const input = new ToolInput(call)
  const commands = [...input.commands]
  const kind = judgedKind(call, commands.length > 0)
  const own = await realPath(cwd)
  const folders = await resolved(input.folders, [cwd])
  const paths = await resolved(input.paths, [cwd, ...folders.real])
  // Where a tool searches that names no folder is unknown.
  const bases = [...folders.real, ...paths.real]
  const roots = await resolved(input.roots, bases)
  const beyond = roots.real.filter((root) => !isInside(root, bases))
  const named = [...input.paths, ...input.folders]
  const isClear = named.every(isPlain) && commands.every(simpleCommands)
  const looseDigest = looseDigestOf(call, { kind, paths: paths.real })
  return {
    kind,
    statedKind: call.kind,
    leavesPlan: call.kind === 'switch_mode' || PLAN_EXIT.has(normal(call.toolName ?? '')),
    paths: [...new Set([...paths.real, ...beyond])],
    folders: folders.real.filter((folder) => folder !== own),
    commands,
    said: commands.length > 0 || kind === 'execute' ? input.said.join(' ') : '',
    unclear: !input.isWhole(kind) || !isClear || ![folders, paths, roots].every(({ all }) => all),
    nul: [...named, ...commands].some((text) => text.includes('\0')),
    digest: digestOf(call, looseDigest),
    looseDigest,
  }
}

const PLAN_EXIT: ReadonlySet<string> = new Set(['exitplanmode', 'exitplan', 'planexit', 'switchmode'])

function judgedKind({ kind, content = [] }: ToolCall, runs: boolean): ToolKind | undefined {
  if (runs && kind !== 'switch_mode') return 'execute'
  const edits = content.some(({ type }) => type === 'diff')
  return edits && (kind === undefined || HARMLESS.has(kind)) ? 'edit' : kind
}

const HARMLESS: ReadonlySet<ToolKind> = new Set(['read', 'search', 'think', 'fetch', 'other'])

async function resolved(given: ReadonlySet<string>, bases: readonly string[]) {
  const real = await Promise.all(Array.from(given, (path) => realPathsOf(path, bases.slice(0, MAX_BASES))))
  const all = bases.length <= MAX_BASES && !real.includes(undefined)
  return { real: [...new Set(real.flatMap((paths) => paths ?? []))], all }
}

/** Each path is looked up from each base. */
export const MAX_BASES = 16

/** The title is in it, as it may be all that names the tool. */
function digestOf({ kind, title, input, toolCallId }: ToolCall, looseDigest: string | undefined): string | undefined {
  if (looseDigest === undefined || !(hasSomething(input) || BY_PATH.has(kind))) return undefined
  const { call_id: callId, turn_id: _turn, started_at_ms: _time, ...own } = asRecord(input)
  return sha256([looseDigest, title, callId === toolCallId ? own : input])
}

/** Kinds of tools whose paths say what they work on. */
export const BY_PATH: ReadonlySet<ToolKind | undefined> = new Set(['read', 'search', 'edit', 'delete', 'move'])

/** Equal for the same call in another request: without ids and times, with the real paths. */
function looseDigestOf(
  { kind, toolName, input, content = [] }: ToolCall,
  { paths, ...judged }: Pick<ToolFacts, 'kind' | 'paths'>,
): string | undefined {
  const diffs = content.filter(({ type }) => type === 'diff')
  if (!hasSomething(input) && diffs.length === 0 && paths.length === 0) return undefined
  return sha256([kind, judged.kind, toolName, canonical(input), canonical(diffs), paths.toSorted()])
}

const sha256 = (all: readonly unknown[]): string => createHash('sha256').update(JSON.stringify(all)).digest('hex')

/** With keys in order and without what differs from call to call. */
function canonical(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value
  // Deeper values are compared by their text.
  if (depth > MAX_DEPTH) return JSON.stringify(value)
  if (Array.isArray(value)) return value.map((item) => canonical(item, depth + 1))
  const entries = Object.entries(value).filter(([key]) => depth > 0 || !PASSING.has(normal(key)))
  return entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, member]) => [key, canonical(member, depth + 1)])
}

const PASSING: ReadonlySet<string> = new Set('callid toolcallid turnid requestid startedatms timestamp'.split(' '))
