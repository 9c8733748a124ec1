import {
  type AgentCapabilities,
  type AgentInfo,
  AgentprotoError,
  asList,
  asRecord,
  asString,
  defined,
  isRecord,
  type Json,
} from '@agentproto/contracts'
import type { ArmConnectOptions, McpServer, OpenSessionOptions } from '@agentproto/contracts/agent'
import { AGENT_BOUNDS } from './agent-bounds.js'

/** The ACP version of this client. Some agents answer 2 to any higher version, so only 1 is requested. */
export const ACP_VERSION = 1

/**
 * The capabilities of this client: questions, boolean options and notices. Files and terminals only if the host offers
 * them: without them, agents use the machine's own, inside the confinement of their process.
 */
export const clientCapabilities = ({
  fs = false,
  terminal = false,
}: NonNullable<ArmConnectOptions['serve']>): object => ({
  fs: { readTextFile: fs, writeTextFile: fs },
  terminal,
  auth: { terminal: true },
  elicitation: { form: {}, url: {} },
  session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
})

/**
 * Of an agent that runs elsewhere. Nothing is done for it here, and no login in a terminal of this host would be its own. A
 * gateway of agentproto is asked to number its updates, so that a turn survives a lost connection.
 */
export const remoteCapabilities = (): object => ({
  ...clientCapabilities({}),
  auth: {},
  _meta: { agentproto: { events: true } },
})

/** A way to log in that the agent names. */
export interface AuthMethod {
  readonly id: string
  readonly name: string
  readonly description?: string
  /** Present where the login needs a terminal: the agent is run in it with these arguments and variables. */
  readonly terminal?: { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
}

/** What the agent reported of itself. */
export interface Handshake {
  readonly info: AgentInfo
  readonly authMethods: readonly AuthMethod[]
  /** It numbers its updates, as a gateway of agentproto does for a client that asks for it. */
  readonly isNumbered: boolean
}

/**
 * Reads the answer to `initialize`.
 * @throws `handshake_failed` for another protocol version
 */
export function readHandshake(result: unknown): Handshake {
  const answer = asRecord(result)
  if (answer['protocolVersion'] !== ACP_VERSION) {
    throw new AgentprotoError('handshake_failed', 'The agent speaks another version of ACP', {
      expected: `protocolVersion ${ACP_VERSION}`,
      given: answer['protocolVersion'] ?? 'none',
      hint: 'Use a version of the agent that speaks ACP 1.',
    })
  }
  const { name, version } = asRecord(answer['agentInfo'])
  const capabilities = asRecord(answer['agentCapabilities'])
  return {
    info: {
      ...defined({ name: nameOf(name), version: nameOf(version) }),
      capabilities: capabilitiesOf(capabilities),
    },
    authMethods: asList(answer['authMethods']).slice(0, AGENT_BOUNDS.authMethods).flatMap(authMethodOf),
    isNumbered: asRecord(asRecord(capabilities['_meta'])['agentproto'])['events'] === true,
  }
}

/** What an agent is called is in each record of a session, and shown. */
const nameOf = (value: unknown): string | undefined => asString(value)?.slice(0, AGENT_BOUNDS.nameChars)

function capabilitiesOf(capabilities: Json): AgentCapabilities {
  const session = asRecord(capabilities['sessionCapabilities'])
  const prompt = asRecord(capabilities['promptCapabilities'])
  const mcp = asRecord(capabilities['mcpCapabilities'])
  // Session capabilities are marked by an object, the older ones by true.
  const marked = (name: string): boolean => isRecord(session[name])
  return {
    load: capabilities['loadSession'] === true,
    resume: marked('resume'),
    list: marked('list'),
    close: marked('close'),
    fork: marked('fork'),
    ...(marked('delete') ? { delete: true } : {}),
    image: prompt['image'] === true,
    audio: prompt['audio'] === true,
    embeddedContext: prompt['embeddedContext'] === true,
    mcpHttp: mcp['http'] === true,
    mcpSse: mcp['sse'] === true,
    additionalDirectories: marked('additionalDirectories'),
  }
}

function authMethodOf(entry: unknown): AuthMethod[] {
  const { id, name, description, type, args, env } = asRecord(entry)
  if (typeof id !== 'string') return []
  const terminal = type === 'terminal' ? { args: texts(args), env: variables(env) } : undefined
  return [{ id, name: asString(name) ?? id, ...defined({ description: asString(description), terminal }) }]
}

const texts = (value: unknown): readonly string[] => asList(value).filter((entry) => typeof entry === 'string')

const variables = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(asRecord(value)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )

/**
 * The parameters of the request that opens a session, as far as the agent supports them, and warnings for the rest. Every
 * agent must support stdio servers.
 */
export function openParams(
  { cwd, additionalDirectories, mcpServers, meta, trace }: OpenSessionOptions,
  capabilities: AgentCapabilities,
): { readonly params: object; readonly warnings: readonly string[] } {
  const warnings: string[] = []
  const servers = mcpServers.flatMap((server): McpServer[] => {
    if (!('type' in server)) return [server]
    const { otherwise, ...remote } = server
    if (remote.type === 'http' ? capabilities.mcpHttp : capabilities.mcpSse) return [remote]
    if (otherwise !== undefined) return [otherwise]
    warnings.push(`The agent takes no MCP servers over ${remote.type}: "${remote.name}" is not mounted.`)
    return []
  })
  const directories = capabilities.additionalDirectories && additionalDirectories.length > 0
  if (additionalDirectories.length > 0 && !directories) {
    warnings.push(`The agent takes no additional directories: ${additionalDirectories.join(', ')} not passed.`)
  }
  // `traceparent` and `tracestate` are reserved for it at the root of `_meta`.
  const requestMeta = meta === undefined && trace === undefined ? {} : { _meta: { ...meta, ...trace } }
  const more = { ...(directories ? { additionalDirectories } : {}), ...requestMeta }
  return { params: { cwd, mcpServers: servers, ...more }, warnings }
}
