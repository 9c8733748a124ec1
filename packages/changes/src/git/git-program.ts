import { devNull } from 'node:os'
import type { Clock } from '@agentproto/contracts'
import { findExecutable } from '@agentproto/subprocess'
import { Git } from './git.js'

/** Where git is, and which. */
export interface GitProgram {
  readonly file: string
  readonly major: number
  readonly minor: number
}

export type FoundGit =
  | { readonly kind: 'found'; readonly program: GitProgram }
  | { readonly kind: 'missing'; readonly reason: 'git_missing' | 'git_too_old'; readonly detail: string }

export interface GitSearch {
  /** Absolute path; absent to look in the PATH of `env`. */
  readonly git?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
}

/** 2.32 has `GIT_CONFIG_GLOBAL`, without which a user's configuration would be read. */
const OLDEST = { major: 2, minor: 32 }

/** Looks for git and asks for its version. */
export async function findGit(search: GitSearch, signal: AbortSignal): Promise<FoundGit> {
  const file = await findExecutable(search.git ?? 'git', { path: search.env['PATH'] ?? '' })
  if (file === undefined) return { kind: 'missing', reason: 'git_missing', detail: 'git was not found.' }
  const git = new Git({ file, cwd: process.cwd(), env: gitEnvironment(search.env), config: [], clock: search.clock })
  const answer = await git.text({ args: ['version'], signal })
  const [, major = 0, minor = 0] = (/^git version (\d+)\.(\d+)/.exec(answer) ?? []).map(Number)
  if (!isAtLeast({ major, minor }, OLDEST))
    return { kind: 'missing', reason: 'git_too_old', detail: `git 2.32 or newer is needed; found: ${answer}` }
  return { kind: 'found', program: { file, major, minor } }
}

/** Whether a git is at least of a version. */
export const isAtLeast = (git: Pick<GitProgram, 'major' | 'minor'>, { major, minor }: typeof OLDEST): boolean =>
  git.major > major || (git.major === major && git.minor >= minor)

const PASSED = ['PATH', 'TMPDIR', 'TMP', 'TEMP', 'SYSTEMROOT', 'SystemRoot', 'WINDIR'] as const

/** What a git of ours gets: no configuration, identity, credential or variable of the user. */
export function gitEnvironment(host: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  const passed = PASSED.flatMap((name) => (host[name] === undefined ? [] : [[name, host[name]]]))
  return {
    ...Object.fromEntries(passed),
    // Messages of git are compared, in the C locale.
    LC_ALL: 'C',
    HOME: devNull,
    XDG_CONFIG_HOME: devNull,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_CONFIG_SYSTEM: devNull,
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    // Nothing is fetched, also not for a partial clone: a transport is a program that a configuration names.
    GIT_ALLOW_PROTOCOL: '',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_PAGER: 'cat',
    GIT_EDITOR: 'false',
    // glibc otherwise returns and requests memory for each file, which takes as long as the rest of a first checkpoint.
    MALLOC_TRIM_THRESHOLD_: '268435456',
    MALLOC_TOP_PAD_: '67108864',
  }
}

/** Given with every call, so that they win over a repository's own configuration: no program that it names is started. */
export const SAFE_CONFIG: readonly string[] = [
  `core.hooksPath=${devNull}`,
  'core.fsmonitor=false',
  `core.attributesFile=${devNull}`,
  `core.excludesFile=${devNull}`,
  'core.sshCommand=false',
  'core.askPass=false',
  'core.pager=cat',
  'core.editor=false',
  'core.autocrlf=false',
  'core.quotePath=false',
  'credential.helper=',
  'commit.gpgSign=false',
  'tag.gpgSign=false',
  'gpg.program=false',
  'protocol.allow=never',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
  'diff.ignoreSubmodules=all',
  'advice.detachedHead=false',
].flatMap((setting) => ['-c', setting])
