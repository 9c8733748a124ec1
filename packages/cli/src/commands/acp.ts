import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { AcpLogin, AcpOpened, AcpOpenRequest, AdapterNaming } from '@agentproto/acp-server'
import type { Client } from '@agentproto/client'
import { type AgentCapabilities, defined } from '@agentproto/contracts'
import type { Define } from '../cli-command.js'
import { raw, warn, type CliContext } from '../cli-context.js'
import { agentOption, type AgentOptions, permissionsOption } from '../command-definition.js'
import { connect } from '../daemon/connect.js'
import { gatewayUrl } from '../daemon/gateway-url.js'
import { findSession } from '../session-ref.js'
import { version } from '../version.js'

const HELP = `
Examples:
  $ agentproto acp --adapter opencode              as an editor runs it; see docs/ide.md
  $ agentproto acp --session try                   serve this session alone

With acpx: acpx --agent "agentproto acp --adapter demo" exec "hello"

stdout carries only the protocol. The sessions that a client starts keep running when it disconnects.`

interface AcpOptions extends Omit<AgentOptions, 'cwd'> {
  readonly login?: boolean
  readonly adapter?: string
  readonly session?: string
  readonly workspace?: string
  readonly label?: string
}

export const define: Define = (command) =>
  command
    .description('serve the sessions of the gateway as an ACP agent on stdin and stdout, for editors')
    .option('--adapter <slug>', 'adapter of new sessions (default: the only one that is installed)')
    .option('--session <id>', 'the session that the client gets, instead of a new one')
    .option('--workspace <slug>', "workspace of new sessions, instead of the client's folder")
    .option('--label <text>', 'label of new sessions')
    .option('--mode <id>', "one of the adapter's modes")
    .addOption(agentOption())
    .addOption(permissionsOption())
    .option('--login', 'log the agent in at this terminal, and exit; editors run it')
    .addHelpText('after', HELP)
    .run((context, options: AcpOptions) => (options.login === true ? logIn : serveAcp)(context, options))

/** The gateway that is served, and how. */
interface Serving {
  readonly client: Client
  readonly options: AcpOptions
}

/** Serves until the client disconnects. */
async function serveAcp(context: CliContext, options: AcpOptions): Promise<void> {
  const client = await connect(context)
  // Fails now, and not at the first request of the ACP client, when the gateway does not answer.
  await client.health()
  const acp = await import('@agentproto/acp-server')
  const serving = { client, options }
  const server = acp.createAcpServer({
    sessions: client.sessions,
    watch: (watching) => client.watch(watching),
    agent: () => capabilitiesOf(acp, serving),
    login: () => loginOf(context, client, options),
    open: (request) => openFor(acp, serving, request),
    info: { name: 'agentproto', version: version() },
    input: context.stdin,
    write: lineWriter(raw(context.stdout)),
    onProblem: (problem) => warn(context, problem),
  })
  await server.closed
}

/** Writes lines to a pipe. It returns a promise while the pipe is full. */
function lineWriter(stream: ReturnType<typeof raw>): (line: string) => Promise<void> | undefined {
  let full: Promise<void> | undefined
  return function writeLine(line) {
    if (stream.write(`${line}\n`)) return undefined
    full ??= once(stream, 'drain').then(() => {
      full = undefined
    })
    return full
  }
}

type AcpModule = typeof import('@agentproto/acp-server')

/** Opens the session for `session/new`: the one that was named, else a new one. */
async function openFor(acp: AcpModule, { client, options }: Serving, request: AcpOpenRequest): Promise<AcpOpened> {
  if (options.session !== undefined) return { session: await findSession(client, options.session), attached: true }
  const { adapter, workspace, label, mode, option, permissions } = options
  const wanted = acp.wantedSession(
    { adapter, options: option, ...defined({ workspaceSlug: workspace, label, mode, permissionMode: permissions }) },
    request,
  )
  const named = wanted.adapter ?? acp.onlyInstalled(await client.adapters.list(), NAMING)
  const session = await client.sessions.start({ ...wanted, adapter: named }, defined({ trace: request.trace }))
  return { session, attached: false }
}

/** The capabilities of new sessions: those of the one session, else those that the adapter's newest one reported. */
async function capabilitiesOf(acp: AcpModule, { client, options }: Serving): Promise<AgentCapabilities | undefined> {
  if (options.session !== undefined) return (await findSession(client, options.session)).agent?.capabilities
  return acp.reportedCapabilities(client.sessions, await adapterOf(client, options))
}

/** The command that a client runs in a terminal when the agent needs a login: this one, with `--login`. */
async function loginOf(context: CliContext, client: Client, options: AcpOptions): Promise<AcpLogin | undefined> {
  // A gateway elsewhere cannot use this terminal.
  if (gatewayUrl(context.env) !== undefined) return undefined
  const slug = await adapterOf(client, options)
  // The state needs a look at the agent, which must not delay the start of a session.
  const tooLate = delay(LOGIN_MS, undefined, { ref: false })
  const state = await Promise.race([client.adapters.state(slug), tooLate])
  if (state?.login === undefined) return undefined
  return { name: `Log in to ${slug}`, description: `agentproto adapters login ${slug}`, args: ['--login'] }
}

const LOGIN_MS = 10_000

async function logIn(context: CliContext, options: AcpOptions): Promise<void> {
  const { provisionUntil } = await import('../adapters/provision.js')
  const { session, adapter } = options
  const named = session === undefined ? adapter : undefined
  await provisionUntil('login')(context, named ?? (await adapterOf(await connect(context), options)), {})
}

async function adapterOf(client: Client, { session, adapter }: AcpOptions): Promise<string> {
  if (session !== undefined) return (await findSession(client, session)).adapterSlug
  if (adapter !== undefined) return adapter
  const { onlyInstalled } = await import('@agentproto/acp-server')
  return onlyInstalled(await client.adapters.list(), NAMING)
}

const NAMING: AdapterNaming = {
  expected: (slugs) => `--adapter ${slugs.join(' | ') || '<slug>'}`,
  hint: 'Name it in the command that the client runs: agentproto acp --adapter <slug>',
}
