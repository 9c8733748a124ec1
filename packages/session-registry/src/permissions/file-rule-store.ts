import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  AgentprotoError,
  asRecord,
  isRecord,
  parseJson,
  type PermissionRule,
  RULE_LIFETIMES,
} from '@agentproto/contracts'
import type { RuleStore } from '@agentproto/contracts/agent'
import writeFileAtomic from 'write-file-atomic'
import { storageFailed } from '../records/stored-file.js'

/**
 * The rules of workspaces, one file each below the home, readable by the owner alone. A file is of a folder and not
 * of a slug, which could be given to another one. It is never in that folder, where an agent could write a rule for
 * itself.
 */

export interface FileRuleStoreOptions {
  readonly directory: string
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
      throw storageFailed(`The rules in ${path} could not be read`, thrown)
    })
    const rules = text === undefined ? [] : rulesOf(text, workspace)
    // Without the file, what it denies would be allowed. So it stays, and a person is asked until it is repaired.
    if (rules === undefined) throw invalidRules(path, workspace)
    return rules
  }

  async save(workspace: string, rules: readonly PermissionRule[]): Promise<void> {
    const path = this.#pathOf(workspace)
    try {
      await mkdir(this.#options.directory, { recursive: true, mode: 0o700 })
      await writeFileAtomic(path, `${JSON.stringify({ version: 1, workspace, rules }, null, 2)}\n`, { mode: 0o600 })
    } catch (thrown) {
      throw storageFailed(`The rules in ${path} could not be written`, thrown)
    }
  }

  #pathOf(workspace: string): string {
    const name = createHash('sha256').update(workspace).digest('hex').slice(0, 32)
    return join(this.#options.directory, `${name}.json`)
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
  const { version, workspace: of, rules } = asRecord(parseJson(text))
  return version === 1 && of === workspace && Array.isArray(rules) && rules.every(isRule) ? rules : undefined
}

const invalidRules = (path: string, workspace: string): AgentprotoError =>
  new AgentprotoError('storage_failed', `The rules of ${workspace} are not valid`, {
    given: path,
    hint: 'Repair the file, or delete it to begin without rules. Until then a person is asked about every request',
  })

/** A rule with an unknown member is refused: without that member it would match too much. */
export function isRule(value: unknown): value is PermissionRule {
  const { ruleId, decision, lifetime, match } = asRecord(value)
  return (
    typeof ruleId === 'string' &&
    (decision === 'allow' || decision === 'deny') &&
    RULE_LIFETIMES.some((each) => each === lifetime) &&
    isRecord(match) &&
    Object.keys(match).length > 0 &&
    Object.entries(match).every(([key, member]) => MATCHES.has(key) && typeof member === 'string')
  )
}

const MATCHES: ReadonlySet<string> = new Set(['toolKind', 'path', 'command', 'call'])
