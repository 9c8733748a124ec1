import type {
  AgentRequest,
  Clock,
  NewId,
  PermissionMode,
  PermissionRequest,
  PermissionRule,
  RuleLifetime,
  RuleMatch,
  SessionEvent,
} from '@agentproto/contracts'
import type { StoredSession } from '@agentproto/contracts/agent'
import { messageOf } from '../lifecycle/ending.js'
import { isRule } from './file-rule-store.js'
import { answerOfMode, answerOfNul, answerOfRule, type PolicyAnswer } from './permission-policy.js'
import { realPath } from './real-path.js'
import { decidingRule, MAX_SESSION_RULES, sameRule, withoutRule, withRule } from './rule-book.js'
import { factsOf } from './tool-facts.js'
import type { WorkspaceRules } from './workspace-rules.js'

/** Answers one session's permission requests before a person does: its rules, its workspace's, then its mode. */

export interface SessionPermissionsOptions {
  readonly sessionId: string
  /** Resolved. */
  readonly cwd: string
  readonly additionalDirectories: readonly string[]
  readonly workspaceSlug: string
  readonly mode: () => PermissionMode
  readonly workspaces: WorkspaceRules
  readonly clock: Clock
  readonly newId: NewId
  /** The session's own rules have changed. */
  readonly onChange: () => void
  /** Called with the reason why the rules of the workspace could not be read. */
  readonly onProblem: (problem: unknown) => void
}

/** What sessions of a host share. */
export interface PermissionHost extends Pick<SessionPermissionsOptions, 'clock' | 'newId'> {
  readonly workspaceRules: WorkspaceRules
  readonly onProblem: (problem: string) => void
}

/** A rule before it is made. */
export interface RuleDraft {
  readonly decision: PermissionRule['decision']
  readonly lifetime: RuleLifetime
  readonly match: RuleMatch
  readonly createdBy: string
  readonly from?: NonNullable<PermissionRule['from']>
}

export class SessionPermissions {
  readonly #options: SessionPermissionsOptions
  #own: readonly PermissionRule[]

  /** Those of a stored session. */
  static of(
    { clock, newId, workspaceRules, onProblem }: PermissionHost,
    { session, rules = [] }: StoredSession,
    live: Pick<SessionPermissionsOptions, 'mode' | 'onChange'>,
  ): SessionPermissions {
    const { id: sessionId, cwd, workspaceSlug, additionalDirectories = [] } = session
    const report = (problem: unknown): void => onProblem(`Rules of session ${sessionId}: ${messageOf(problem)}`)
    const options = { sessionId, cwd, workspaceSlug, additionalDirectories, clock, newId, workspaces: workspaceRules }
    return new SessionPermissions({ ...options, ...live, onProblem: report }, rules.filter(isRule))
  }

  constructor(options: SessionPermissionsOptions, own: readonly PermissionRule[]) {
    this.#options = options
    this.#own = own
  }

  /** The session's own rules. */
  get own(): readonly PermissionRule[] {
    return this.#own
  }

  get cwd(): string {
    return this.#options.cwd
  }

  /** All rules of the session, its own first. */
  async all(): Promise<readonly PermissionRule[]> {
    const workspace = await this.#ofWorkspace()
    return [...this.#own, ...workspace]
  }

  /** Undefined when a person has to be asked. Uses up a rule for once. */
  async decide(request: AgentRequest): Promise<PolicyAnswer | undefined> {
    const { mode, cwd, additionalDirectories } = this.#options
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
    const { clock, newId, workspaces, workspaceSlug } = this.#options
    const rule: PermissionRule = { ruleId: newId('pr_'), createdAt: new Date(clock.now()).toISOString(), ...draft }
    if (rule.lifetime === 'workspace') return workspaces.add(workspaceSlug, rule)
    const known = sameRule(this.#own, rule)
    if (known === undefined) this.#change(withRule(this.#own, rule, MAX_SESSION_RULES))
    return known ?? rule
  }

  /** Whether a rule of the workspace can be made here. @throws `invalid_request`, `workspace_not_found`, `cwd_invalid` */
  async assertWorkspace(): Promise<void> {
    await this.#options.workspaces.folder(this.#options.workspaceSlug)
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
    return this.#options.workspaces.of(this.#options.workspaceSlug)
  }

  #unknown(problem: unknown): undefined {
    this.#options.onProblem(problem)
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
