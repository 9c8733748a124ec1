import type {
  AgentRequest,
  PermissionMode,
  PermissionRequest,
  PermissionRule,
  Session,
  SessionEvent,
} from '@agentproto/contracts'
import type { StoredSession, StoredWorktree } from '@agentproto/contracts/agent'
import { least } from '../delegation/delegation.js'
import { foldersOf, namedFoldersOf } from '../delegation/root-folder.js'
import { messageOf } from '../lifecycle/ending.js'
import { isRule } from './file-rule-store.js'
import { answerOfMode, answerOfNul, answerOfRule, type PolicyAnswer } from './permission-policy.js'
import {
  decidingRule,
  isDenial,
  MAX_SESSION_RULES,
  type RuleDraft,
  type RuleMaker,
  ruleOf,
  sameRule,
  withoutRule,
  withRule,
} from './rule-book.js'
import { factsOf } from './tool-facts.js'
import type { WorkspaceRules } from './workspace-rules.js'
import { ruleOfWorkspace, rulesInWorktree } from '../worktrees/worktree-rules.js'

/** Answers one session's permission requests before a person does: by what is allowed to it at that moment. */

export interface SessionPermissionsOptions extends RuleMaker {
  readonly workspaceRules: WorkspaceRules
  readonly onProblem: (problem: string) => void
  /** As of its last start. */
  readonly workspaceSlug: () => string
  /** The session's own mode. */
  readonly mode: () => PermissionMode
  /** Of the session whose agent started this one. */
  readonly parent: () => SessionPermissions | undefined
  /** The session's own rules have changed. */
  readonly onChange: () => void
}

export class SessionPermissions {
  readonly #options: SessionPermissionsOptions
  readonly #session: Session
  /** As they were at the start: an agent that puts a link in the place of its folder gets no other one. */
  readonly #roots: readonly [string, ...string[]]
  /** Where its workspace is looked for. */
  readonly #named: readonly [string, ...string[]]
  readonly #worktree: StoredWorktree | undefined
  #own: readonly PermissionRule[]

  constructor(options: SessionPermissionsOptions, stored: Pick<StoredSession, 'session' | 'spawn' | 'rules'>) {
    this.#options = options
    this.#session = stored.session
    this.#roots = foldersOf(stored)
    this.#named = namedFoldersOf(stored)
    this.#worktree = stored.spawn.worktree
    this.#own = stored.rules?.filter(isRule) ?? []
  }

  /** The session's own rules. */
  get own(): readonly PermissionRule[] {
    return this.#own
  }

  get cwd(): string {
    return this.#roots[0]
  }

  /** The folders that it may work in, its own first; links resolved at its start. */
  get folders(): readonly [string, ...string[]] {
    return this.#roots
  }

  /** The strictest mode of the session and of those above it. */
  get mode(): PermissionMode {
    const above = this.#options.parent()?.mode
    return above === undefined ? this.#options.mode() : least(above, this.#options.mode())
  }

  /** All rules that hold: its own first, its workspace's, then every denial of the workspaces around and of sessions above. */
  async all(): Promise<readonly PermissionRule[]> {
    const others = await this.#others()
    return [...this.#own, ...others]
  }

  /** Undefined when a person has to be asked. Uses up a rule for once. */
  async decide(request: AgentRequest): Promise<PolicyAnswer | undefined> {
    const roots = this.#roots
    if (request.kind === 'question') return answerOfMode(request, this.mode, { roots: [] })
    const facts = await factsOf(request.toolCall, this.cwd)
    if (facts.nul) return answerOfNul(request)
    const others = await this.#others().catch((problem: unknown) => this.#unknown(problem))
    // While the denials are unknown, only a person may allow anything.
    if (others === undefined) return this.mode === 'deny-all' ? answerOfMode(request, 'deny-all', { roots }) : undefined
    // Nothing is awaited between the choice of a rule and its use, so that one that holds once does so.
    const rule = decidingRule([...this.#own, ...others], facts, roots)
    if (rule === undefined) return answerOfMode(request, this.mode, { facts, roots })
    return this.#use(rule, request)
  }

  /** @throws `rule_limit_reached`; of a workspace's rule also `invalid_request`, `storage_failed` */
  async add(draft: RuleDraft): Promise<PermissionRule> {
    const rule = ruleOf(draft, this.#options)
    if (rule.lifetime === 'workspace')
      return this.#options.workspaceRules.add(await this.assertWorkspace(), ruleOfWorkspace(rule, this.#worktree))
    const rules = withRule(this.#own, rule, MAX_SESSION_RULES)
    if (rules !== this.#own) this.#change(rules)
    return sameRule(rules, rule) ?? rule
  }

  /** The slug of the workspace whose rules can be made here. @throws `invalid_request`, `workspace_not_found`, `cwd_invalid` */
  async assertWorkspace(): Promise<string> {
    const { workspaceRules, workspaceSlug } = this.#options
    const own = await workspaceRules.own(this.#named, workspaceSlug())
    await workspaceRules.folder(own)
    return own
  }

  /** @throws `rule_not_found` */
  remove(ruleId: string): void {
    this.#change(withoutRule(this.#own, ruleId))
  }

  /** Rules for the next request of the old conversation do not hold in a new one. */
  forgetOnce(): void {
    if (this.#own.some(({ lifetime }) => lifetime === 'once'))
      this.#change(this.#own.filter(({ lifetime }) => lifetime !== 'once'))
  }

  /** Follows the log at boot: a rule may have been used without the record being saved. */
  replay(event: SessionEvent): void {
    if (event.type !== 'agent-prompt-resolved' || event.by.type !== 'policy') return
    const { rule } = event.by
    this.#own = this.#own.filter(({ ruleId, lifetime }) => lifetime !== 'once' || ruleId !== rule)
  }

  async #others(): Promise<readonly PermissionRule[]> {
    const around = await this.#options.workspaceRules.around(this.#named, this.#options.workspaceSlug())
    const ofWorkspaces = rulesInWorktree(around, this.#worktree)
    const above = (await this.#options.parent()?.all()) ?? []
    return [...ofWorkspaces, ...above.filter(isDenial)]
  }

  #unknown(problem: unknown): undefined {
    this.#options.onProblem(`Rules of session ${this.#session.id}: ${messageOf(problem)}`)
    return undefined
  }

  #use(rule: PermissionRule, request: PermissionRequest): PolicyAnswer | undefined {
    const answer = answerOfRule(request, rule)
    if (answer !== undefined && rule.lifetime === 'once') this.#change(this.#own.filter((each) => each !== rule))
    return answer
  }

  #change(rules: readonly PermissionRule[]): void {
    this.#own = rules
    this.#options.onChange()
  }
}
