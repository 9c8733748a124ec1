import {
  defined,
  isAgentprotoError,
  type NamedToken,
  type NewToken,
  type Scope,
  SCOPES,
  type TokenService,
} from '@agentproto/contracts'
import { Option, type Command } from 'commander'
import { paintFor, print, printJson, warn, type CliContext } from '../cli-context.js'
import { examples, type JsonOption, type Run } from '../command-definition.js'
import { connect } from '../daemon/connect.js'
import { printTable } from '../render/table.js'
import { age } from '../render/age.js'

const HELP = `
Examples:
  $ agentproto token create --name dashboard --scope read
  $ agentproto token create --name ci --scope operate --workspace shop
  $ AGENTPROTO_URL=… AGENTPROTO_TOKEN=… agentproto sessions

The scope read can look, operate can also start and drive sessions, admin can also change workspaces, adapters and tokens.
A token is printed once; only its hash is stored. Your own commands need no token: they read the owner's from the home.`

interface CreateOptions extends JsonOption {
  readonly name: string
  readonly scope: Scope
  readonly workspace?: readonly string[]
}

export function define(token: Command, run: Run): void {
  token.description('tokens for other programs and people').addHelpText('after', HELP)
  token
    .command('create')
    .description('create a token and print it once')
    .requiredOption('--name <name>', 'name of the token')
    .addOption(new Option('--scope <scope>', 'what it allows').choices([...SCOPES]).makeOptionMandatory())
    .option('--workspace <slug...>', 'allow only the sessions of these workspaces')
    .option('--json', 'as JSON')
    .addHelpText('after', examples('token create --name ci --scope operate --workspace shop'))
    .action(
      run(async (context, { name, scope, workspace, json }: CreateOptions) => {
        const tokens = await openTokens(context)
        printNew(context, await tokens.create({ name, scope, ...defined({ workspaces: workspace }) }), json)
      }),
    )
  token
    .command('list')
    .description('list the tokens, without their values')
    .option('--json', 'as JSON')
    .addHelpText('after', examples('token list'))
    .action(run(list))
  token
    .command('revoke')
    .description('revoke a token, and close the streams that use it')
    .argument('<name>')
    .addHelpText('after', examples('token revoke ci'))
    .action(
      run(async (context, name: string) => {
        await (await openTokens(context)).revoke(name)
        print(context.stderr, `${name} is revoked.`)
      }),
    )
  token
    .command('rotate')
    .description('replace the value of a token and print the new one once')
    .argument('<name>')
    .option('--json', 'as JSON')
    .addHelpText('after', examples('token rotate ci'))
    .action(
      run(async (context, name: string, { json }: JsonOption) =>
        printNew(context, await (await openTokens(context)).rotate(name), json),
      ),
    )
}

async function list(context: CliContext, { json }: JsonOption): Promise<void> {
  const tokens = await (await openTokens(context)).list()
  if (json === true) return printJson(context, { tokens })
  if (tokens.length === 0)
    return print(context.stdout, 'No tokens. Create one with: agentproto token create --name <name> --scope read')
  const paint = paintFor(context, context.stdout)
  printTable<NamedToken>(
    context,
    [
      { title: 'NAME', cell: ({ name }) => name, paint: paint.cyan },
      { title: 'SCOPE', cell: ({ scope }) => scope },
      { title: 'WORKSPACES', cell: ({ workspaces }) => workspaces?.join(', ') ?? 'all', shrinkTo: 8 },
      {
        title: 'AGE',
        cell: ({ createdAt, rotatedAt }) => age(Date.now() - Date.parse(rotatedAt ?? createdAt)),
        dropOrder: 1,
      },
    ],
    tokens,
  )
}

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

function printNew(context: CliContext, created: NewToken, json: boolean | undefined): void {
  if (json === true) return printJson(context, created)
  print(context.stdout, created.token)
  if (context.stderr.isTTY === true) print(context.stderr, 'Save it now: it is not stored, and not shown again.')
}
