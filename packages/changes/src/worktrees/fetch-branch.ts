import { mkdir, writeFile } from 'node:fs/promises'
import { devNull } from 'node:os'
import { join } from 'node:path'
import { AgentprotoError, type Clock } from '@agentproto/contracts'
import type { FetchedBranch } from '@agentproto/contracts/agent'
import { Git, GitFailure } from '../git/git.js'
import { gitEnvironment } from '../git/git-program.js'
import { createNeutral, type Repository } from './repository.js'

/**
 * Brings a branch from a remote. An agent may have written the repository's configuration, so only addresses are read from it: git
 * runs with the configuration of the user, starts only its own transports, and asks for nothing. What comes is looked at beside
 * the repository first: the history of another repository, which an address of an agent could name, never gets into it.
 */

export interface Fetching {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
}

/** More remotes are not asked. */
const MAX_REMOTES = 8

/** @returns undefined where no remote has it @throws `git_failed` where none has it and one could not be asked */
export async function fetchBranch(
  repository: Repository,
  branch: string,
  fetching: Fetching,
): Promise<FetchedBranch | undefined> {
  const quarantine = await Quarantine.open(repository, fetching)
  let failure: AgentprotoError | undefined
  for (const remote of await remotesOf(repository)) {
    try {
      const commit = await quarantine.fetch(remote, branch)
      if (commit !== undefined) return { remote: shown(remote.name), commit }
    } catch (thrown) {
      if (!(thrown instanceof GitFailure)) throw thrown
      failure ??= failed(remote, thrown)
    }
  }
  if (failure !== undefined) throw failure
  return undefined
}

interface Remote {
  readonly name: string
  readonly url: string
}

/** `origin` first. */
async function remotesOf(repository: Repository): Promise<readonly Remote[]> {
  const found = await repository.configured('^remote\\..*\\.url$')
  const remotes = found
    .map(({ key, value }) => ({ name: key.slice('remote.'.length, -'.url'.length), url: value }))
    .filter(({ url }) => isAddress(url))
  const origin = remotes.filter(({ name }) => name === 'origin')
  return [...origin, ...remotes.filter(({ name }) => name !== 'origin')].slice(0, MAX_REMOTES)
}

/** Transports that git has itself; `ext::` and the like start what the address says. */
const isAddress = (url: string): boolean =>
  !url.includes('::') &&
  !/[\0\n]/.test(url) &&
  (/^(?:https|ssh|file):\/\/[^-]/.test(url) || /^[\w][\w.-]*(?:@[\w][\w.-]*)?:[^-]/.test(url) || url.startsWith('/'))

const FETCHED = 'refs/fetched/branch'

/** A repository of its own, which also sees the objects of the user's. */
class Quarantine {
  readonly #repository: Repository
  readonly #git: Git
  readonly #folder: string

  private constructor(repository: Repository, folder: string, { env, clock }: Fetching) {
    this.#repository = repository
    this.#folder = folder
    this.#git = new Git({
      file: repository.program.file,
      cwd: folder,
      env: { ...networkEnvironment(env), GIT_DIR: folder },
      config: FETCH_CONFIG,
      clock,
    })
  }

  static async open(repository: Repository, fetching: Fetching): Promise<Quarantine> {
    const folder = join(repository.temporary, 'quarantine')
    await createNeutral(folder, {
      format: await repository.refs(['rev-parse', '--show-object-format']),
      attributes: '',
    })
    await mkdir(join(folder, 'objects/info'))
    await writeFile(join(folder, 'objects/info/alternates'), `${join(repository.commonDir, 'objects')}\n`)
    return new Quarantine(repository, folder, fetching)
  }

  /** @throws `GitFailure` where the remote cannot be asked */
  async fetch({ url }: Remote, branch: string): Promise<string | undefined> {
    const { signal } = this.#repository
    const ref = `refs/heads/${branch}`
    const listed = await this.#git.text({ args: ['ls-remote', '--heads', '--', url, ref], signal })
    if (!listed.split('\n').some((line) => line.endsWith(`\t${ref}`))) return undefined
    await this.#git.run({ args: [...FETCH, '--', url, `+${ref}:${FETCHED}`], signal })
    const commit = await this.#git.text({ args: ['rev-parse', '--verify', `${FETCHED}^{commit}`], signal })
    if (!(await this.#isRelated(commit))) return undefined
    this.#repository.beginWrites()
    await this.#repository.text([...FETCH, '--', this.#folder, `+${FETCHED}:${FETCHED}`], {
      env: { GIT_ALLOW_PROTOCOL: 'file' },
    })
    return commit
  }

  async #isRelated(commit: string): Promise<boolean> {
    const { commit: own } = await this.#repository.head()
    if (own === undefined) return false
    const { signal } = this.#repository
    const { exitCode } = await this.#git.run({ args: ['merge-base', commit, own], accept: [0, 1], signal })
    return exitCode === 0
  }
}

const FETCH = [
  'fetch',
  '--quiet',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-recurse-submodules',
  '--no-auto-maintenance',
]

/** What the user's own git has to reach a remote: keys, an agent of keys, helpers of credentials, a proxy. It asks for nothing. */
function networkEnvironment(host: Fetching['env']): Readonly<Record<string, string>> {
  const {
    GIT_CONFIG_GLOBAL: _global,
    GIT_CONFIG_SYSTEM: _system,
    GIT_CONFIG_NOSYSTEM: _none,
    ...base
  } = gitEnvironment(host)
  const passed = OF_USER.flatMap((name) => (host[name] === undefined ? [] : [[name, host[name]]]))
  return {
    ...base,
    XDG_CONFIG_HOME: '',
    ...Object.fromEntries(passed),
    GIT_ALLOW_PROTOCOL: 'https:ssh:file',
    GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
    GIT_ASKPASS: 'false',
    SSH_ASKPASS: 'false',
  }
}

const OF_USER = [
  'HOME',
  'XDG_CONFIG_HOME',
  'USERPROFILE',
  'SSH_AUTH_SOCK',
  'https_proxy',
  'HTTPS_PROXY',
  'no_proxy',
  'NO_PROXY',
]

const FETCH_CONFIG: readonly string[] = [
  `core.hooksPath=${devNull}`,
  'core.fsmonitor=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
].flatMap((setting) => ['-c', setting])

const MAX_DETAIL = 300

/** An address may hold a password. */
const failed = ({ name }: Remote, { stderr }: GitFailure): AgentprotoError =>
  new AgentprotoError('git_failed', `The remote ${shown(name)} could not be asked`, {
    given: stderr
      .trim()
      .replaceAll(/\/\/[^@/\s]*@/g, '//')
      .slice(0, MAX_DETAIL),
  })

const shown = (name: string): string => name.replaceAll(/[^\w./-]/g, '').slice(0, 80)
