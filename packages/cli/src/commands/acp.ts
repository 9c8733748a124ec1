import { setTimeout as pause } from 'node:timers/promises'
import type { AcpLogin, AcpOpened, AcpOpenRequest } from '@agentproto/acp-server'
import type { Client } from '@agentproto/client'
import {
  type AgentCapabilities,
  AgentprotoError,
  EXIT,
  parseWire,
  spawnAgentSchema,
  type SpawnAgentRequest,
} from '@agentproto/contracts'
import { connect } from '../daemon/daemon.js'
import { print, type Io } from '../io.js'
import { lineWriter } from '../line-writer.js'
import type { AgentOptions } from '../program/option-values.js'
import { findSession } from '../session-ref.js'
import { version } from '../version.js'

export interface AcpOptions extends Omit<AgentOptions, 'cwd'> {
  readonly login?: boolean
  readonly adapter?: string
  readonly session?: string
  readonly workspace?: string
  readonly label?: string
}

/**
 * `agentproto acp`: serves the running gateway's sessions to the ACP client on stdin and stdout, until it goes
 * away. What it began runs on.
 */
export async function serveAcp(io: Io, options: AcpOptions): Promise<number> {
  if (options.login === true) return logIn(io, options)
  const client = await connect(io)
  // A gateway that does not answer is told at once, and not at the client's first request.
  await client.health()
  const { createAcpServer } = await import('@agentproto/acp-server')
  const server = createAcpServer({
    sessions: client.sessions,
    watch: (watching) => client.watch(watching),
    agent: () => agentOf(client, options),
    login: () => loginOf(io, client, options),
    open: (request) => opened(client, options, request),
    info: { name: 'agentproto', version: version() },
    input: io.stdin,
    write: lineWriter(io.stdout),
    onProblem: (problem) => print(io.stderr, `agentproto: ${problem}`),
  })
  await server.closed
  return EXIT.ok
}

async function opened(client: Client, options: AcpOptions, request: AcpOpenRequest): Promise<AcpOpened> {
  if (options.session !== undefined) return { session: await findSession(client, options.session), attached: true }
  const asked = spawnRequest(options, request)
  const { trace } = request
  const adapter = asked.adapter ?? (await onlyInstalled(client))
  return {
    session: await client.sessions.start({ ...asked, adapter }, trace === undefined ? {} : { trace }),
    attached: false,
  }
}

/** What one client wants of one session (`_meta.agentproto`) wins over what the command line says for all. */
const wishSchema = spawnAgentSchema
  .pick({ workspaceSlug: true, label: true, title: true, mode: true, options: true, permissionMode: true })
  .extend({ adapter: spawnAgentSchema.shape.adapter.optional() })

type Asked = Omit<SpawnAgentRequest, 'adapter'> & { adapter?: string | undefined }

function spawnRequest(options: AcpOptions, { cwd, additionalDirectories, mcpServers, meta }: AcpOpenRequest): Asked {
  const wish = parseWire(wishSchema, meta ?? {}, '_meta.agentproto')
  const all: Asked = { ...flagged(options), ...wish }
  const mounted = parseWire(spawnAgentSchema.pick({ mcpServers: true }), { mcpServers }, 'session/new')
  return {
    ...all,
    ...(all.workspaceSlug === undefined ? { cwd } : {}),
    ...(mcpServers.length === 0 ? {} : mounted),
    ...(additionalDirectories.length === 0 ? {} : { additionalDirectories: [...additionalDirectories] }),
  }
}

/** What the command line says for every session. */
function flagged({ adapter, workspace, label, mode, option, permissions }: AcpOptions): Asked {
  return {
    ...(adapter === undefined ? {} : { adapter }),
    ...(workspace === undefined ? {} : { workspaceSlug: workspace }),
    ...(label === undefined ? {} : { label }),
    ...(mode === undefined ? {} : { mode }),
    ...(Object.keys(option).length === 0 ? {} : { options: option }),
    ...(permissions === undefined ? {} : { permissionMode: permissions }),
  }
}

/**
 * What the agent of new sessions can: that of the one session, else of the adapter's newest one, as its own handshake
 * said.
 */
async function agentOf(client: Client, { session, adapter }: AcpOptions): Promise<AgentCapabilities | undefined> {
  if (session !== undefined) return (await findSession(client, session)).agent?.capabilities
  const { sessions } = await client.sessions.list({ adapter: adapter ?? (await onlyInstalled(client)), limit: 10 })
  return sessions.find(({ agent }) => agent !== undefined)?.agent?.capabilities
}

/** What a client that opens terminals runs when the agent wants a login: this command once more. */
async function loginOf(io: Io, client: Client, options: AcpOptions): Promise<AcpLogin | undefined> {
  // A gateway elsewhere can ask nobody at this terminal.
  if (io.env['AGENTPROTO_URL']) return undefined
  const slug = await adapterOf(client, options)
  // To find out takes a look at the agent, which nobody's start is to wait for.
  const unknown = pause(LOGIN_MS, undefined, { ref: false })
  const state = await Promise.race([client.adapters.state(slug), unknown])
  if (state?.login === undefined) return undefined
  return { name: `Log in to ${slug}`, description: `agentproto adapters login ${slug}`, args: ['--login'] }
}

const LOGIN_MS = 10_000

async function logIn(io: Io, options: AcpOptions): Promise<number> {
  const { logInAdapter } = await import('./adapters-provision.js')
  const { session, adapter } = options
  if (session === undefined && adapter !== undefined) return logInAdapter(io, adapter, {})
  return logInAdapter(io, await adapterOf(await connect(io), options), {})
}

const adapterOf = async (client: Client, { session, adapter }: AcpOptions): Promise<string> =>
  session === undefined ? (adapter ?? (await onlyInstalled(client))) : (await findSession(client, session)).adapterSlug

async function onlyInstalled(client: Client): Promise<string> {
  const installed = (await client.adapters.list()).filter((adapter) => adapter.installed).map(({ slug }) => slug)
  const [only, second] = installed
  if (only !== undefined && second === undefined) return only
  throw new AgentprotoError('invalid_request', 'It is not said which agent to start', {
    expected: `--adapter ${installed.join(' | ') || '<slug>'}`,
    hint: 'Name it where the client is told the command: agentproto acp --adapter <slug>',
  })
}
