import { createHash } from 'node:crypto'
import { mkdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentprotoError, type PermissionRule } from '@agentproto/contracts'
import type { RuleStore } from '@agentproto/contracts/agent'
import writeFileAtomic from 'write-file-atomic'

/**
 * The rules of workspaces, one file each below the home, readable by the owner alone. A file is of a folder and not
 * of a slug, which could be given to another one. It is never in that folder, where an agent could write a rule for
 * itself.
 */

export interface FileRuleStoreOptions {
  readonly directory: string
  /** Called when a file could not be read and was moved aside. */
  readonly onProblem?: (problem: string) => void
}

export class FileRuleStore implements RuleStore {
  readonly #options: FileRuleStoreOptions

  constructor(options: FileRuleStoreOptions) {
    this.#options = options
  }

  async load(workspace: string): Promise<readonly PermissionRule[]> {
    const path = this.#pathOf(workspace)
    const text = await readFile(path, 'utf8').catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code === 'ENOENT') return undefined
      throw failed(path, 'read', thrown)
    })
    if (text === undefined) return []
    return rulesOf(text, workspace) ?? (await this.#moveAside(path))
  }

  async save(workspace: string, rules: readonly PermissionRule[]): Promise<void> {
    const path = this.#pathOf(workspace)
    try {
      await mkdir(this.#options.directory, { recursive: true, mode: 0o700 })
      await writeFileAtomic(path, `${JSON.stringify({ version: 1, workspace, rules }, null, 2)}\n`, { mode: 0o600 })
    } catch (thrown) {
      throw failed(path, 'written', thrown)
    }
  }

  #pathOf(workspace: string): string {
    const name = createHash('sha256').update(workspace).digest('hex').slice(0, 32)
    return join(this.#options.directory, `${name}.json`)
  }

  async #moveAside(path: string): Promise<readonly PermissionRule[]> {
    const aside = `${path}.unreadable-${process.pid}`
    await rename(path, aside).catch(() => undefined)
    this.#options.onProblem?.(`Rules in ${path} could not be read and do not hold; the file was moved to ${aside}`)
    return []
  }
}

/** Rules that live as long as their registry. */
export class MemoryRuleStore implements RuleStore {
  readonly #rules = new Map<string, readonly PermissionRule[]>()

  load(workspace: string): Promise<readonly PermissionRule[]> {
    return Promise.resolve(this.#rules.get(workspace) ?? [])
  }

  save(workspace: string, rules: readonly PermissionRule[]): Promise<void> {
    this.#rules.set(workspace, rules)
    return Promise.resolve()
  }
}

/** Undefined for a file that this version did not write, or of another folder. */
function rulesOf(text: string, workspace: string): readonly PermissionRule[] | undefined {
  try {
    const file = JSON.parse(text) as { version?: unknown; workspace?: unknown; rules?: unknown } | null
    if (file?.version !== 1 || file.workspace !== workspace || !Array.isArray(file.rules)) return undefined
    return file.rules.every(isRule) ? file.rules : undefined
  } catch {
    return undefined
  }
}

/** A rule with an unknown member is refused: without that member it would match too much. */
export function isRule(value: unknown): value is PermissionRule {
  const { ruleId, decision, lifetime, match } = (value ?? {}) as Readonly<Record<string, unknown>>
  return (
    typeof ruleId === 'string' &&
    (decision === 'allow' || decision === 'deny') &&
    (lifetime === 'once' || lifetime === 'session' || lifetime === 'workspace') &&
    typeof match === 'object' &&
    match !== null &&
    Object.keys(match).length > 0 &&
    Object.entries(match).every(([key, member]) => MATCHES.has(key) && typeof member === 'string')
  )
}

const MATCHES: ReadonlySet<string> = new Set(['toolKind', 'path', 'command', 'call'])

const failed = (path: string, what: string, cause: unknown): AgentprotoError =>
  new AgentprotoError('storage_failed', `The rules in ${path} could not be ${what}`, {
    given: cause instanceof Error ? cause.message : cause,
    hint: 'Check the free space and the permissions of the agentproto home',
    cause,
  })
