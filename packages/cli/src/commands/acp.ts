import { setTimeout as delay } from 'node:timers/promises'
import type { AcpLogin, AcpOpened, AcpOpenRequest, AcpSessions, AdapterNaming } from '@agentproto/acp-server'
import type { Client } from '@agentproto/client'
import {
  type AgentCapabilities,
  AgentprotoError,
  defined,
  type ErrorCode,
  isAgentprotoError,
  type Session,
} from '@agentproto/contracts'
import { Option } from 'commander'
import type { Define } from '../cli-command.js'
import { raw, warn, type CliContext } from '../cli-context.js'
import { agentOption, type AgentOptions, permissionsOption } from '../command-definition.js'
import { connect } from '../daemon/connect.js'
import { gatewayUrl } from '../daemon/gateway-url.js'
import { lineWriter } from '../line-writer.js'
import type { Remote } from '../remote/connect-remote.js'
import { parseRemoteUrl } from '../remote/remote-url.js'
import { findSession } from '../session-ref.js'
import { version } from '../version.js'

const HELP = `
Examples:
  $ agentproto acp --adapter opencode              as an editor runs it; see docs/ide.md
  $ agentproto acp --session try                   serve this session alone
  $ agentproto acp --remote https://build.example.com --workspace shop      with the agents of another machine

With acpx: acpx --agent "agentproto acp --adapter demo" exec "hello"

stdout carries only the protocol. The sessions that a client starts keep running when it disconnects. The token for another
machine is AGENTPROTO_TOKEN, or what agentproto remote login has stored; it is never an argument.`

interface AcpOptions extends Omit<AgentOptions, 'cwd'> {
  readonly login?: boolean
  readonly adapter?: string
  readonly session?: string
  readonly workspace?: string
  readonly label?: string
  readonly remote?: string
  readonly allowInsecure?: boolean
  readonly token?: string | true
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
    .option('--remote <url>', 'the gateway of another machine, such as https://build.example.com')
    .option('--allow-insecure', 'allow plain HTTP to another machine')
    .addOption(new Option('--token [token]', 'refused, so that its value is not repeated').hideHelp())
    .option('--login', 'log the agent in at this terminal, and exit; editors run it')
    .addHelpText('after', HELP)
    .run((context, given: AcpOptions) => {
      const options = checked(given)
      return (options.login === true ? logIn : serveAcp)(context, options)
    })

/** @throws `invalid_request` for options that do not go together, and for a token on the command line */
function checked(options: AcpOptions): AcpOptions {
  const { remote, login, token, adapter } = options
  // It is refused by name, because the error for an unknown option would repeat the token.
  if (token !== undefined)
    throw invalid('A token is never an argument: other users can see arguments', 'agentproto remote login <url>')
  if (remote === undefined) return options
  if (login === true)
    throw invalid(
      '--login works with the gateway of this home only',
      'on that machine: agentproto adapters login <slug>',
    )
  const { agent } = parseRemoteUrl(remote)
  if (agent !== undefined && adapter !== undefined && adapter !== agent)
    throw invalid(`The address names the adapter ${agent}, and --adapter ${adapter}`, 'name one of them')
  return { ...options, ...defined({ adapter: adapter ?? agent }) }
}

const invalid = (what: string, step: string): AgentprotoError =>
  new AgentprotoError('invalid_request', what, { hint: `Instead: ${step}` })

/** The gateway that is served, and how. */
interface Serving {
  readonly client: Client
  readonly options: AcpOptions
}

/** Serves until the client disconnects. */
async function serveAcp(context: CliContext, options: AcpOptions): Promise<void> {
  const { client, leave } = await gatewayOf(context, options)
  const acp = await import('@agentproto/acp-server')
  const serving = { client, options }
  const server = acp.createAcpServer({
    sessions: sentOnce(client.sessions),
    watch: (watching) => client.watch(watching),
    isElsewhere: ofOtherHost(client),
    agent: () => capabilitiesOf(acp, serving),
    login: () => loginOf(context, client, options),
    open: (request) => openFor(acp, serving, request),
    info: { name: 'agentproto', version: version() },
    input: context.stdin,
    write: lineWriter(raw(context.stdout)),
    onProblem: (problem) => warn(context, problem),
  })
  await server.closed
  leave()
}

/** Fails when the gateway does not answer: now, and not at the first request of the ACP client. */
async function gatewayOf(
  context: CliContext,
  { remote, ...options }: AcpOptions,
): Promise<Pick<Remote, 'client' | 'leave'>> {
  if (remote !== undefined) {
    const { connectRemote } = await import('../remote/connect-remote.js')
    return connectRemote(context, { remote, ...defined({ allowInsecure: options.allowInsecure }) })
  }
  const client = await connect(context)
  await client.health()
  return { client, leave: () => undefined }
}

/** A connection that breaks does not lose what was on its way: it is sent again, and done once. */
const sentOnce = (sessions: Client['sessions']): AcpSessions => ({
  ...sessions,
  prompt: (id, request, options) => sessions.prompt(id, { ...request, idempotencyKey: crypto.randomUUID() }, options),
})

/** Whether a session is one of another host than that of the gateway. The gateway is asked once, with the first session. */
function ofOtherHost(client: Client): (session: Session) => Promise<boolean> {
  let asked: Promise<string | undefined> | undefined
  return async ({ hostId }) => {
    asked ??= client.hosts().then(
      (hosts) => hosts.find(({ self }) => self === true)?.name,
      () => undefined,
    )
    const self = await asked
    return self !== undefined && self !== hostId
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
  const start = { ...wanted, adapter: named, idempotencyKey: crypto.randomUUID() }
  const starting = client.sessions.start(start, defined({ trace: request.trace }))
  const session = options.remote === undefined ? await starting : await starting.catch(explainFolder)
  return { session, attached: false }
}

/** The folder that an editor names is one of its own machine. */
function explainFolder(thrown: unknown): never {
  if (!isAgentprotoError(thrown) || !OF_FOLDER.has(thrown.code)) throw thrown
  const { expected, given } = thrown.parts
  throw new AgentprotoError(thrown.code, "The editor's folder cannot be used on the gateway's machine", {
    ...defined({ expected, given }),
    hint: 'Add --workspace <slug> to the command that the editor runs; there, agentproto workspace list shows them',
    cause: thrown,
  })
}

const OF_FOLDER: ReadonlySet<ErrorCode> = new Set(['cwd_invalid', 'cwd_not_allowed'])

/** The capabilities of new sessions: those of the one session, else those that the adapter's newest one reported. */
async function capabilitiesOf(acp: AcpModule, { client, options }: Serving): Promise<AgentCapabilities | undefined> {
  if (options.session !== undefined) return (await findSession(client, options.session)).agent?.capabilities
  return acp.reportedCapabilities(client.sessions, await adapterOf(client, options))
}

/** The command that a client runs in a terminal when the agent needs a login: this one, with `--login`. */
async function loginOf(context: CliContext, client: Client, options: AcpOptions): Promise<AcpLogin | undefined> {
  // A gateway elsewhere cannot use this terminal.
  if (options.remote !== undefined || gatewayUrl(context.env) !== undefined) return undefined
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
