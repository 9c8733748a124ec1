import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentprotoError, asRecord, isRecord, parseJson } from '@agentproto/contracts'
import { readSmallFile } from '../git/repository-files.js'

/** What a repository says about its worktrees. */
export interface WorktreeSettings {
  /** Paths of files in its folder, with `*` within a name. */
  readonly copy?: readonly string[]
  /** A program and its arguments. */
  readonly setup?: readonly string[]
}

export const SETTINGS_FILE = '.agentproto/worktree.json'

const MAX_PATTERNS = 100
const MAX_ARGS = 100
const MAX_CHARS = 4_096

/** @throws `worktree_setup_failed` for a file that cannot be used */
export async function readSettings(repository: string): Promise<WorktreeSettings> {
  const at = join(repository, SETTINGS_FILE)
  const real = await realpath(at).catch(() => undefined)
  if (real === undefined) return {}
  if (real !== at) throw invalid(at, 'no link on the way to it')
  const content = await readSmallFile(at)
  const value = content === undefined ? undefined : parseJson(content.toString('utf8'))
  if (!isRecord(value)) throw invalid(at, 'a JSON object')
  const other = Object.keys(value).find((key) => key !== 'copy' && key !== 'setup')
  if (other !== undefined) throw invalid(at, `"copy" and "setup", and not ${JSON.stringify(other)}`)
  const { copy, setup } = asRecord(value)
  return {
    ...(copy === undefined ? {} : { copy: patternsOf(at, copy) }),
    ...(setup === undefined ? {} : { setup: argvOf(at, setup) }),
  }
}

function patternsOf(at: string, value: unknown): readonly string[] {
  const patterns = textsOf(value, MAX_PATTERNS)
  if (patterns?.every(isPattern) === true) return patterns
  throw invalid(at, `"copy": at most ${MAX_PATTERNS} relative paths without "..", with * within a name`)
}

function argvOf(at: string, value: unknown): readonly string[] {
  const argv = textsOf(value, MAX_ARGS)
  if (argv !== undefined && argv[0] !== undefined && argv[0] !== '') return argv
  throw invalid(at, '"setup": a program and its arguments, such as ["npm", "ci"]')
}

function textsOf(value: unknown, max: number): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length > max) return undefined
  const isText = (each: unknown): each is string =>
    typeof each === 'string' && each.length <= MAX_CHARS && !each.includes('\0')
  return value.every(isText) ? value : undefined
}

/** Not in a `.git`, in any case: its files decide what git starts. */
const isPattern = (pattern: string): boolean =>
  pattern
    .split('/')
    .every((name) => !['', '.', '..'].includes(name) && !name.includes('**') && name.toLowerCase() !== '.git')

const invalid = (at: string, expected: string): AgentprotoError =>
  new AgentprotoError('worktree_setup_failed', 'The settings of worktrees cannot be used', { expected, given: at })
