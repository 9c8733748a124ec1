import {
  AgentprotoError,
  defined,
  type PermissionRule,
  type RuleScope,
  TOOL_KINDS,
  type ToolKind,
} from '@agentproto/contracts'
import type { Client } from '@agentproto/client'
import { Option } from 'commander'
import type { CliCommand, CommandResult } from '../cli-command.js'
import { print, printJson, type CliContext } from '../cli-context.js'
import type { JsonOption } from '../command-definition.js'
import { connect } from '../daemon/connect.js'
import { tableFor } from '../render/table.js'
import { ageSince } from '../render/age.js'
import { oneLine } from '../render/printable.js'
import { findSession } from '../session-ref.js'

const HELP = `
Examples:
  $ agentproto permissions list --session try
  $ agentproto permissions allow --command "npm run *"
  $ agentproto permissions deny --tool edit --path ".github/**" --workspace shop
  $ agentproto permissions remove pr_1a2b

Rules answer permission requests before the permission mode does, and before you are asked. A deny rule wins.
"agentproto sessions answer <id> --allow --remember session" creates a rule from an answer.
Without --session and --workspace, the active workspace is used.`

interface ScopeOptions extends JsonOption {
  readonly session?: string
  readonly workspace?: string
}

interface RuleOptions extends ScopeOptions {
  readonly tool?: ToolKind
  readonly path?: string
  readonly command?: string
  readonly once?: boolean
}

export function define(permissions: CliCommand): void {
  permissions.description('rules that answer permission requests').addHelpText('after', HELP)
  scoped(permissions.command('list'))
    .description('list the rules of a workspace, or all that apply to a session')
    .json()
    .examples('permissions list', 'permissions list --session try --json')
    .run(list)
  defineRule(permissions.command('allow'), 'allow').examples(
    'permissions allow --command "npm run *"',
    'permissions allow --tool read --path "src/**" --session try',
  )
  defineRule(permissions.command('deny'), 'deny').examples(
    'permissions deny --tool edit --path ".github/**" --workspace shop',
  )
  scoped(permissions.command('remove'))
    .description('remove rules, and print the id of each')
    .argument('<ruleId...>', 'as listed; the first characters are enough')
    .json()
    .examples('permissions remove pr_1a2b', 'permissions remove pr_1a2b --session try')
    .run(remove)
}

const defineRule = (command: CliCommand, decision: PermissionRule['decision']): CliCommand =>
  scoped(command)
    .description(`create a rule that ${decision === 'allow' ? 'allows' : 'denies'}, and print its id`)
    .choice('--tool <kind>', 'kind of the tool', TOOL_KINDS)
    .option('--path <pattern>', 'path that the tool works on; * and ? within a name, ** for any folders')
    .option('--command <words>', "command that the tool runs; * within a word, a last '**' for any words")
    .addOption(new Option('--once', 'with --session: answer one request, then expire').conflicts('workspace'))
    .json('print the rule as JSON')
    .run((context, options: RuleOptions) => add(context, decision, options))

const scoped = (command: CliCommand): CliCommand =>
  command
    .addOption(new Option('--session <id>', 'rules of this session').conflicts('workspace'))
    .option('--workspace <slug>', 'rules of this workspace (default: the active one)')

async function list(context: CliContext, options: ScopeOptions): Promise<CommandResult> {
  const client = await connect(context)
  const rules = await client.permissions.list(await scopeOf(client, options))
  if (rules.length === 0) return { json: { rules }, note: NO_RULES }
  const text = tableFor<PermissionRule>(context, rules, (paint) => [
    { title: 'ID', cell: ({ ruleId }) => ruleId, paint: paint.cyan },
    { title: 'DOES', cell: ({ decision }) => decision },
    { title: 'WHAT', cell: ruleText, shrinkTo: 16 },
    { title: 'FOR', cell: ({ lifetime }) => lifetime },
    { title: 'BY', cell: ({ createdBy }) => createdBy, dropOrder: 2 },
    { title: 'AGE', cell: ({ createdAt }) => ageSince(createdAt), dropOrder: 1 },
  ])
  return { json: { rules }, text }
}

const NO_RULES = 'No rules. Create one from an answer: agentproto sessions answer <id> --allow --remember session'

async function add(
  context: CliContext,
  decision: PermissionRule['decision'],
  options: RuleOptions,
): Promise<CommandResult> {
  const { tool, path, command, once } = options
  const client = await connect(context)
  const rule = await client.permissions.add(await scopeOf(client, options), {
    decision,
    ...defined({ toolKind: tool, path, command, lifetime: once === true ? ('once' as const) : undefined }),
  })
  return { json: rule, text: rule.ruleId }
}

async function remove(context: CliContext, refs: readonly string[], options: ScopeOptions): Promise<void> {
  const client = await connect(context)
  const scope = await scopeOf(client, options)
  const rules = await client.permissions.list(scope)
  // All are found before the first is removed: a typing error changes nothing.
  const found = refs.map((ref) => pick(rules, ref))
  for (const rule of found) {
    await client.permissions.remove(await ownerOf(client, scope, rule), rule.ruleId)
    if (options.json !== true) print(context.stdout, rule.ruleId)
  }
  if (options.json === true) printJson(context, { rules: found })
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

/** The list of a session includes the rules of its workspace, which are stored there. */
async function ownerOf(client: Client, scope: RuleScope, { lifetime }: PermissionRule): Promise<RuleScope> {
  if (lifetime !== 'workspace' || !('sessionId' in scope)) return scope
  return { workspaceSlug: (await client.sessions.get(scope.sessionId)).workspaceSlug }
}

function pick(rules: readonly PermissionRule[], ref: string): PermissionRule {
  const matching = rules.filter(({ ruleId }) => ref !== '' && ruleId.startsWith(ref))
  const only = matching.find(({ ruleId }) => ruleId === ref) ?? (matching.length === 1 ? matching[0] : undefined)
  if (only !== undefined) return only
  if (matching.length === 0) {
    throw new AgentprotoError('rule_not_found', 'No rule has this id', {
      given: ref,
      hint: 'List the rules with: agentproto permissions list, or with --session <id> those of a session',
    })
  }
  throw new AgentprotoError('invalid_request', `${matching.length} rules match this`, {
    given: ref,
    hint: `Use a longer id: ${matching.map(({ ruleId }) => ruleId).join(', ')}`,
  })
}

/** What a rule matches, on one line. */
function ruleText({ match: { toolKind, path, command, call } }: PermissionRule): string {
  const parts = [toolKind, path, command === undefined ? undefined : `$ ${command}`, call && 'this call only']
  return oneLine(parts.filter((part) => part !== undefined).join(' '))
}
