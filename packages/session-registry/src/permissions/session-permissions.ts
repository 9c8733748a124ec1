import type {
  AgentRequest,
  PermissionMode,
  PermissionRequest,
  PermissionRule,
  Session,
  SessionEvent,
} from '@agentproto/contracts'
import type { StoredSession } from '@agentproto/contracts/agent'
import { messageOf } from '../lifecycle/ending.js'
import { isRule } from './file-rule-store.js'
import { answerOfMode, answerOfNul, answerOfRule, type PolicyAnswer } from './permission-policy.js'
import { realPath } from './real-path.js'
import {
  decidingRule,
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

/** Answers one session's permission requests before a person does: its rules, its workspace's, then its mode. */

export interface SessionPermissionsOptions extends RuleMaker {
  readonly workspaceRules: WorkspaceRules
  readonly onProblem: (problem: string) => void
  readonly mode: () => PermissionMode
  /** The session's own rules have changed. */
  readonly onChange: () => void
}

export class SessionPermissions {
  readonly #options: SessionPermissionsOptions
  readonly #session: Session
  #own: readonly PermissionRule[]

  constructor(options: SessionPermissionsOptions, { session, rules = [] }: Pick<StoredSession, 'session' | 'rules'>) {
    this.#options = options
    this.#session = session
    this.#own = rules.filter(isRule)
  }

  /** The session's own rules. */
  get own(): readonly PermissionRule[] {
    return this.#own
  }

  get cwd(): string {
    return this.#session.cwd
  }

  /** All rules of the session, its own first. */
  async all(): Promise<readonly PermissionRule[]> {
    const workspace = await this.#ofWorkspace()
    return [...this.#own, ...workspace]
  }

  /** Undefined when a person has to be asked. Uses up a rule for once. */
  async decide(request: AgentRequest): Promise<PolicyAnswer | undefined> {
    const { mode } = this.#options
    const { cwd, additionalDirectories = [] } = this.#session
    if (request.kind === 'question') return answerOfMode(request, mode(), { roots: [] })
    const facts = await factsOf(request.toolCall, cwd)
    if (facts.nul) return answerOfNul(request)
    const roots = await resolved([cwd, ...additionalDirectories])
    const workspace = await this.#ofWorkspace().catch((problem: unknown) => this.#unknown(problem))
    // While the denials are unknown, only a person may allow anything.
    if (workspace === undefined) return mode() === 'deny-all' ? answerOfMode(request, 'deny-all', { roots }) : undefined
    // Nothing is awaited between the choice of a rule and its use, so that one that holds once does so.
    const rule = decidingRule([...this.#own, ...workspace], facts, roots)
    if (rule === undefined) return answerOfMode(request, mode(), { facts, roots })
    return this.#use(rule, request)
  }

  /** @throws `rule_limit_reached`; of a workspace's rule also `invalid_request`, `storage_failed` */
  async add(draft: RuleDraft): Promise<PermissionRule> {
    const rule = ruleOf(draft, this.#options)
    if (rule.lifetime === 'workspace') return this.#options.workspaceRules.add(this.#session.workspaceSlug, rule)
    const rules = withRule(this.#own, rule, MAX_SESSION_RULES)
    if (rules !== this.#own) this.#change(rules)
    return sameRule(rules, rule) ?? rule
  }

  /** Whether a rule of the workspace can be made here. @throws `invalid_request`, `workspace_not_found`, `cwd_invalid` */
  async assertWorkspace(): Promise<void> {
    await this.#options.workspaceRules.folder(this.#session.workspaceSlug)
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

  #ofWorkspace(): Promise<readonly PermissionRule[]> {
    return this.#options.workspaceRules.of(this.#session.workspaceSlug)
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

async function resolved(folders: readonly string[]): Promise<readonly string[]> {
  const real = await Promise.all(folders.map((folder) => realPath(folder)))
  return real.filter((folder) => folder !== undefined)
}
