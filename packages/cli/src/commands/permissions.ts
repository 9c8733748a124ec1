import { AgentprotoError, EXIT, type PermissionRule, type RuleScope, type ToolKind } from '@agentproto/contracts'
import type { Client } from '@agentproto/client'
import { connect } from '../daemon/daemon.js'
import { paintOf, print, printJson, widthOf, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { age } from '../render/age.js'
import { ruleText } from '../render/rule-text.js'
import { renderTable, type Column } from '../render/table.js'
import { findSession } from '../session-ref.js'

/** Whose rules; those of the active workspace without either. */
export interface ScopeOptions extends JsonOption {
  readonly session?: string
  readonly workspace?: string
}

export interface RuleOptions extends ScopeOptions {
  readonly tool?: ToolKind
  readonly path?: string
  readonly command?: string
  readonly once?: boolean
}

/** `agentproto permissions list`: the rules of a workspace, or all that hold for a session. */
export async function listRules(io: Io, options: ScopeOptions): Promise<number> {
  const client = await connect(io)
  const rules = await client.permissions.list(await scopeOf(client, options))
  if (options.json === true) printJson(io, { rules })
  else if (rules.length === 0)
    print(io.stderr, 'No rules. Make one of an answer: agentproto sessions answer <id> --allow --remember session')
  else print(io.stdout, table(io, rules))
  return EXIT.ok
}

/** `agentproto permissions allow` and `deny`: makes a rule and prints its id. */
export async function addRule(io: Io, decision: PermissionRule['decision'], options: RuleOptions): Promise<number> {
  const { tool, path, command, once } = options
  const client = await connect(io)
  const rule = await client.permissions.add(await scopeOf(client, options), {
    decision,
    ...(tool === undefined ? {} : { toolKind: tool }),
    ...(path === undefined ? {} : { path }),
    ...(command === undefined ? {} : { command }),
    ...(once === true ? { lifetime: 'once' } : {}),
  })
  if (options.json === true) printJson(io, rule)
  else print(io.stdout, rule.ruleId)
  return EXIT.ok
}

/** `agentproto permissions remove`: prints each id once the rule is gone. */
export async function removeRules(io: Io, refs: readonly string[], options: ScopeOptions): Promise<number> {
  const client = await connect(io)
  const scope = await scopeOf(client, options)
  const rules = await client.permissions.list(scope)
  // All are found before one is removed: a slip of the pen changes nothing.
  const found = refs.map((ref) => pick(rules, ref))
  for (const rule of found) {
    await client.permissions.remove(await homeOfRule(client, scope, rule), rule.ruleId)
    if (options.json !== true) print(io.stdout, rule.ruleId)
  }
  if (options.json === true) printJson(io, { rules: found })
  return EXIT.ok
}

async function scopeOf(client: Client, { session, workspace }: ScopeOptions): Promise<RuleScope> {
  if (session !== undefined) return { sessionId: (await findSession(client, session)).id }
  const workspaceSlug = workspace ?? (await client.workspaces.list()).active
  if (workspaceSlug !== undefined) return { workspaceSlug }
  throw new AgentprotoError('invalid_request', 'No workspace is active', {
    expected: '--session <id> or --workspace <slug>',
    hint: 'Make this folder the active workspace with: agentproto workspace add . --use',
  })
}

/** A session is shown its workspace's rules, too; those are kept with the workspace. */
async function homeOfRule(client: Client, scope: RuleScope, { lifetime }: PermissionRule): Promise<RuleScope> {
  if (lifetime !== 'workspace' || !('sessionId' in scope)) return scope
  return { workspaceSlug: (await client.sessions.get(scope.sessionId)).workspaceSlug }
}

function pick(rules: readonly PermissionRule[], ref: string): PermissionRule {
  const exact = rules.filter(({ ruleId }) => ruleId === ref)
  const matching = exact.length > 0 ? exact : rules.filter(({ ruleId }) => ref !== '' && ruleId.startsWith(ref))
  const [only, second] = matching
  if (only !== undefined && second === undefined) return only
  if (only === undefined) {
    throw new AgentprotoError('rule_not_found', 'There is no such rule', {
      given: ref,
      hint: 'List them with: agentproto permissions list, --session <id> for those of a session',
    })
  }
  throw new AgentprotoError('invalid_request', `${matching.length} rules are meant by this`, {
    given: ref,
    hint: `Name one: ${matching.map(({ ruleId }) => ruleId).join(', ')}`,
  })
}

function table(io: Io, rules: readonly PermissionRule[]): string[] {
  const paint = paintOf(io, io.stdout)
  const columns: Column<PermissionRule>[] = [
    { title: 'ID', cell: ({ ruleId }) => ruleId, paint: paint.cyan },
    { title: 'DOES', cell: ({ decision }) => decision },
    { title: 'WHAT', cell: ruleText, shrinkTo: 16 },
    { title: 'FOR', cell: ({ lifetime }) => lifetime },
    { title: 'BY', cell: ({ createdBy }) => createdBy, dropOrder: 2 },
    { title: 'AGE', cell: ({ createdAt }) => age(Date.now() - Date.parse(createdAt)), dropOrder: 1 },
  ]
  const [titles = '', ...lines] = renderTable(columns, rules, widthOf(io.stdout))
  return [paint.bold(titles), ...lines]
}
