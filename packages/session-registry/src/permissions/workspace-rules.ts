import { AgentprotoError, NO_WORKSPACE, type PermissionRule, type WorkspaceResolver } from '@agentproto/contracts'
import type { RuleStore } from '@agentproto/contracts/agent'
import { isDenial, MAX_WORKSPACE_RULES, sameRule, withoutRule, withRule } from './rule-book.js'

/** The rules of all workspaces of a host; each file is read once and written at every change. */

export class WorkspaceRules {
  readonly #store: RuleStore
  readonly #workspaces: WorkspaceResolver
  /** By folder. */
  readonly #rules = new Map<string, Promise<readonly PermissionRule[]>>()

  constructor(store: RuleStore, workspaces: WorkspaceResolver) {
    this.#store = store
    this.#workspaces = workspaces
  }

  /**
   * The folder of a workspace.
   * @throws `invalid_request` where there is none, `workspace_not_found`, `cwd_invalid`
   */
  async folder(slug: string): Promise<string> {
    if (slug !== NO_WORKSPACE) return (await this.#workspaces.resolve({ workspaceSlug: slug })).cwd
    throw noWorkspace()
  }

  /** @throws `workspace_not_found`, `cwd_invalid`, `storage_failed` */
  async list(slug: string): Promise<readonly PermissionRule[]> {
    return this.#load(await this.folder(slug))
  }

  /**
   * The slug of a session's own workspace. The session keeps the slug of its start, which may be another folder's by now.
   * @throws `invalid_request` where there is none
   */
  async own(roots: readonly [string, ...string[]], slug: string): Promise<string> {
    const [inner] = await this.#workspaces.enclosing(roots[0])
    if (inner?.slug === slug) return slug
    throw noWorkspace()
  }

  /** All rules of a session's own workspace, and the denials of the others around its folders. @throws `storage_failed` */
  async around(roots: readonly [string, ...string[]], slug: string): Promise<readonly PermissionRule[]> {
    const own = await this.own(roots, slug).catch(() => undefined)
    const enclosing = await Promise.all(roots.map((root) => this.#workspaces.enclosing(root)))
    const bySlug = new Map(enclosing.flat().map((each) => [each.slug, each.path]))
    const rules = Array.from(bySlug, async ([name, path]) => {
      const all = await this.#load(path)
      return name === own ? all : all.filter(isDenial)
    })
    return (await Promise.all(rules)).flat()
  }

  /** @returns the rule, or the same one that was there. @throws `rule_limit_reached`, `storage_failed` */
  async add(slug: string, rule: PermissionRule): Promise<PermissionRule> {
    const rules = await this.#change(await this.folder(slug), (known) => withRule(known, rule, MAX_WORKSPACE_RULES))
    return sameRule(rules, rule) ?? rule
  }

  /** @throws `rule_not_found`, `storage_failed` */
  async remove(slug: string, ruleId: string): Promise<void> {
    await this.#change(await this.folder(slug), (rules) => withoutRule(rules, ruleId))
  }

  #load(folder: string): Promise<readonly PermissionRule[]> {
    const known = this.#rules.get(folder)
    if (known !== undefined) return known
    const loading = this.#store.load(folder).catch((thrown: unknown) => {
      this.#rules.delete(folder)
      throw thrown
    })
    this.#rules.set(folder, loading)
    return loading
  }

  /** Changes of a folder run one after the other; each starts from the last rules that were stored. */
  async #change(
    folder: string,
    change: (rules: readonly PermissionRule[]) => readonly PermissionRule[],
  ): Promise<readonly PermissionRule[]> {
    const before = this.#load(folder)
    const changing = before.then(async (rules) => {
      const changed = change(rules)
      if (changed !== rules) await this.#store.save(folder, changed)
      return changed
    })
    this.#rules.set(
      folder,
      changing.catch(() => before),
    )
    return changing
  }
}

const noWorkspace = (): AgentprotoError =>
  new AgentprotoError('invalid_request', 'The session runs in no workspace', {
    expected: 'a rule of the session',
    hint: 'Add its folder with: agentproto workspace add <path>',
  })
