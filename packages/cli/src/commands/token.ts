import {
  EXIT,
  isAgentprotoError,
  type NamedToken,
  type NewToken,
  type Scope,
  type TokenService,
} from '@agentproto/contracts'
import { connect } from '../daemon/daemon.js'
import { paintOf, print, printJson, widthOf, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { age } from '../render/age.js'
import { renderTable, type Column } from '../render/table.js'

export interface CreateTokenOptions extends JsonOption {
  readonly name: string
  readonly scope: Scope
  readonly workspace?: readonly string[]
}

/** `agentproto token create`: the value is the one line of stdout. */
export async function createToken(io: Io, { name, scope, workspace, json }: CreateTokenOptions): Promise<number> {
  const tokens = await tokensOf(io)
  const bounds = workspace === undefined ? {} : { workspaces: workspace }
  return printNew(io, await tokens.create({ name, scope, ...bounds }), json)
}

/** `agentproto token list`; never a value. */
export async function listTokens(io: Io, { json }: JsonOption): Promise<number> {
  const tokens = await (await tokensOf(io)).list()
  if (json === true) printJson(io, { tokens })
  else if (tokens.length === 0)
    print(io.stdout, 'No tokens but the owner’s. Make one with: agentproto token create --name <name> --scope read')
  else print(io.stdout, table(io, tokens))
  return EXIT.ok
}

/** `agentproto token revoke`. */
export async function revokeToken(io: Io, name: string): Promise<number> {
  await (await tokensOf(io)).revoke(name)
  print(io.stderr, `${name} is revoked.`)
  return EXIT.ok
}

/** `agentproto token rotate`: the new value is the one line of stdout. */
export async function rotateToken(io: Io, name: string, { json }: JsonOption): Promise<number> {
  return printNew(io, await (await tokensOf(io)).rotate(name), json)
}

/** Those of the gateway that runs, which has them in memory, else those of the home. */
async function tokensOf(io: Io): Promise<TokenService> {
  try {
    return (await connect(io)).tokens
  } catch (thrown) {
    if (!isAgentprotoError(thrown) || thrown.code !== 'daemon_not_running') throw thrown
  }
  const { openTokens } = await import('@agentproto/runtime')
  return openTokens({ env: io.env, onProblem: (problem) => print(io.stderr, `agentproto: ${problem}`) })
}

function printNew(io: Io, made: NewToken, json: boolean | undefined): number {
  if (json === true) printJson(io, made)
  else print(io.stdout, made.token)
  if (json !== true && io.stderr.isTTY === true) print(io.stderr, 'Keep it now: it is not stored, and not shown again.')
  return EXIT.ok
}

function table(io: Io, tokens: readonly NamedToken[]): string[] {
  const paint = paintOf(io, io.stdout)
  const columns: Column<NamedToken>[] = [
    { title: 'NAME', cell: ({ name }) => name, paint: paint.cyan },
    { title: 'SCOPE', cell: ({ scope }) => scope },
    { title: 'WORKSPACES', cell: ({ workspaces }) => workspaces?.join(', ') ?? 'all', shrinkTo: 8 },
    {
      title: 'AGE',
      cell: ({ createdAt, rotatedAt }) => age(Date.now() - Date.parse(rotatedAt ?? createdAt)),
      dropOrder: 1,
    },
  ]
  const [titles = '', ...rows] = renderTable(columns, tokens, widthOf(io.stdout))
  return [paint.bold(titles), ...rows]
}
