import {
  type CreatedTokens,
  defined,
  type EndOptions,
  isAgentprotoError,
  type NamedToken,
  type NewToken,
  type Scope,
  SCOPES,
  type TokenService,
} from '@agentproto/contracts'
import { Option } from 'commander'
import type { CliCommand, CommandResult } from '../cli-command.js'
import { warn, type CliContext } from '../cli-context.js'
import { connect } from '../daemon/connect.js'
import { tableFor } from '../render/table.js'
import { ageSince } from '../render/age.js'

const HELP = `
Examples:
  $ agentproto token create --name dashboard --scope read
  $ agentproto token create --name ci --scope operate --workspace shop
  $ AGENTPROTO_URL=… AGENTPROTO_TOKEN=… agentproto sessions

The scope read can look, operate can also start and drive sessions, admin can also change workspaces, adapters and tokens.
A token of workspaces is bound to their folders: a workspace that was removed, or whose slug another folder has now, is
"lost". The tokens that a token created end with it.
A token is printed once; only its hash is stored. Your own commands need no token: they read the owner's from the home.`

interface CreateOptions {
  readonly name: string
  readonly scope: Scope
  readonly workspace?: readonly string[]
}

export function define(token: CliCommand): void {
  token.description('tokens for other programs and people').addHelpText('after', HELP)
  token
    .subcommand('create', 'create a token and print it once')
    .requiredOption('--name <name>', 'name of the token')
    .addOption(new Option('--scope <scope>', 'what it allows').choices([...SCOPES]).makeOptionMandatory())
    .option('--workspace <slug...>', 'allow only the sessions of these workspaces')
    .json()
    .examples('token create --name ci --scope operate --workspace shop')
    .run(async (context, { name, scope, workspace }: CreateOptions) => {
      const tokens = await openTokens(context)
      return newToken(context, await tokens.create({ name, scope, ...defined({ workspaces: workspace }) }))
    })
  token.subcommand('list', 'list the tokens, without their values').json().examples('token list').run(list)
  token
    .subcommand('revoke <name>', 'revoke a token and those that it created, and close the streams that use them')
    .option('--keep-created', 'keep the tokens that it created')
    .json()
    .examples('token revoke ci', 'token revoke ci --keep-created')
    .run(async (context, name: string, { keepCreated }: EndOptions) => {
      const created = await (await openTokens(context)).revoke(name, undefined, defined({ keepCreated }))
      return { json: { name, ...created }, note: `${name} is revoked.${aboutCreated(created)}` }
    })
  token
    .subcommand(
      'rotate <name>',
      'replace the value of a token, end those that it created, and print the new value once',
    )
    .option('--keep-created', 'keep the tokens that it created')
    .json()
    .examples('token rotate ci')
    .run(async (context, name: string, { keepCreated }: EndOptions) => {
      const rotated = await (await openTokens(context)).rotate(name, undefined, defined({ keepCreated }))
      const { note, ...result } = newToken(context, rotated)
      return { ...result, note: [note, aboutCreated(rotated).trim()].filter(Boolean).join(' ') || undefined }
    })
}

/** What else ended, or did not. */
function aboutCreated({ ended, kept }: CreatedTokens): string {
  if (ended.length > 0) return ` Also revoked, because it had created them: ${ended.join(', ')}.`
  return kept.length > 0 ? ` Still valid, though it had created them: ${kept.join(', ')}.` : ''
}

async function list(context: CliContext): Promise<CommandResult> {
  const tokens = await (await openTokens(context)).list()
  const json = { tokens }
  if (tokens.length === 0)
    return { json, text: 'No tokens. Create one with: agentproto token create --name <name> --scope read' }
  const text = tableFor<NamedToken>(context, tokens, (paint) => [
    { title: 'NAME', cell: ({ name }) => name, paint: paint.cyan },
    { title: 'SCOPE', cell: ({ scope }) => scope },
    { title: 'WORKSPACES', cell: workspacesOf, shrinkTo: 8 },
    { title: 'CREATED BY', cell: ({ createdBy }) => createdBy ?? 'owner', dropOrder: 2 },
    {
      title: 'USED',
      cell: ({ lastUsedAt }) => (lastUsedAt === undefined ? 'never' : `${ageSince(lastUsedAt)} ago`),
      dropOrder: 3,
    },
    { title: 'AGE', cell: ({ createdAt, rotatedAt }) => ageSince(rotatedAt ?? createdAt), dropOrder: 1 },
  ])
  return { json, text }
}

const workspacesOf = ({ workspaces, lost = [] }: NamedToken): string =>
  workspaces?.map((slug) => (lost.includes(slug) ? `${slug} (lost)` : slug)).join(', ') ?? 'all'

/** The tokens of the running gateway, which keeps them in memory, else those of the home. */
async function openTokens(context: CliContext): Promise<TokenService> {
  try {
    return (await connect(context)).tokens
  } catch (thrown) {
    if (!isAgentprotoError(thrown) || thrown.code !== 'daemon_not_running') throw thrown
  }
  const runtime = await import('@agentproto/runtime')
  return runtime.openTokens({ env: context.env, onProblem: (problem) => warn(context, problem) })
}

/** A script that keeps the value needs no advice. */
function newToken({ stderr }: CliContext, created: NewToken): CommandResult {
  const advice = 'Save it now: it is not stored, and not shown again.'
  return { json: created, text: created.token, note: stderr.isTTY === true ? advice : undefined }
}
