import { type AgentCapabilities, defined } from '@agentproto/contracts'
import { PROTOCOL_VERSION } from '@agentclientprotocol/sdk'
import type { AuthMethod, InitializeResponse } from '@agentclientprotocol/sdk'
import type { AcpLogin, ServeOptions } from './acp-host.js'
import type { ClientLink } from './client-link.js'
import { NUMBERED } from './numbered-events.js'

type Known = Pick<ClientLink, 'capabilities' | 'numbered'>

/** The server's and its agent's capabilities. */
export async function initialized(
  options: ServeOptions,
  { capabilities, numbered }: Known,
): Promise<InitializeResponse> {
  const mayLogIn = capabilities.auth?.terminal === true
  const [known, login] = await Promise.all([
    unlessItFails(options.agent),
    mayLogIn ? unlessItFails(options.login) : undefined,
  ])
  const { agentCapabilities, ...response } = responseOf(options, known)
  return {
    ...response,
    agentCapabilities: { ...agentCapabilities, ...(numbered ? { _meta: NUMBERED } : {}) },
    authMethods: login === undefined ? [] : [methodOf(login)],
  }
}

/** Optional parts of the answer: an error leaves them out. */
const unlessItFails = async <T>(ask: (() => Promise<T>) | undefined): Promise<T | undefined> =>
  ask?.().catch(() => undefined)

const methodOf = ({ name, description, args }: AcpLogin): AuthMethod => ({
  type: 'terminal',
  id: 'login',
  name,
  ...defined({ description }),
  args: [...args],
})

/** @param known capabilities of the agent of new sessions; an agent without an assumed one refuses the request. */
function responseOf(
  { info: { name, version }, sessions }: ServeOptions,
  known: Partial<AgentCapabilities> = {},
): InitializeResponse {
  const { image = true, audio = true, mcpHttp = true, mcpSse = true, additionalDirectories = true } = known
  const { fork = true } = known
  const sessionCapabilities = {
    list: {},
    resume: {},
    close: {},
    delete: {},
    ...(additionalDirectories ? { additionalDirectories: {} } : {}),
    ...(fork && sessions.fork !== undefined ? { fork: {} } : {}),
  }
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name, title: 'agentproto', version },
    agentCapabilities: {
      loadSession: true,
      // Agents without embedded context get it as text.
      promptCapabilities: { image, audio, embeddedContext: true },
      mcpCapabilities: { http: mcpHttp, sse: mcpSse },
      sessionCapabilities,
    },
  }
}
