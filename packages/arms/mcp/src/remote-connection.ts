import { startCancelled, within } from '@agentproto/arm-kit'
import { AgentprotoError } from '@agentproto/contracts'
import type { AgentEnd, ArmConnection, ArmConnectOptions, ProcessExit } from '@agentproto/contracts/agent'
import { McpClient } from './client.js'
import { handshakeFailure } from './handshake-failure.js'
import type { McpProfile } from './profile.js'
import { RemoteCarrier } from './remote-carrier.js'

/** Time limit for terminating the session on the server, in milliseconds. */
const GOODBYE_MS = 1_000

/**
 * Connects with a server behind a URL. There is no process: the connection ends when it is closed, and what the server runs
 * is not touched.
 * @throws `handshake_failed`, `auth_required`, `timeout`, `cancelled`
 */
export async function connectRemote(options: ArmConnectOptions, profile: McpProfile): Promise<ArmConnection> {
  if (options.signal.aborted) throw startCancelled()
  return new RemoteConnection(options, profile).start()
}

class RemoteConnection {
  readonly #ended: Promise<AgentEnd>
  readonly #options: ArmConnectOptions
  readonly #carrier: RemoteCarrier
  readonly #client: McpClient
  #closing: Promise<ProcessExit> | undefined
  #resolveEnd: (end: AgentEnd) => void = () => {}

  constructor(options: ArmConnectOptions, profile: McpProfile) {
    const { env, cwd } = options.launch
    this.#options = options
    this.#ended = new Promise((resolve) => (this.#resolveEnd = resolve))
    this.#carrier = new RemoteCarrier({
      profile,
      env,
      take: (message) => this.#client.take(message),
      onLost: (why) => void this.#lost(why),
    })
    this.#client = new McpClient({ ...options, profile, cwd, carrier: this.#carrier })
  }

  async start(): Promise<ArmConnection> {
    const { limits, clock, signal } = this.#options
    const close = (): Promise<ProcessExit> => (this.#closing ??= this.#close())
    try {
      const starting = this.#carrier.open().then(() => this.#client.initialize())
      const ms = limits.handshakeMs + limits.openMs
      const info = await within(starting, 'The server did not shake hands', { ms, clock, signal })
      const openSession: ArmConnection['openSession'] = (opening, sink) => this.#client.openSession(opening, sink)
      return { info, ended: this.#ended, openSession, close }
    } catch (thrown) {
      await close()
      throw signal.aborted ? startCancelled() : handshakeFailure(thrown)
    }
  }

  async #close(): Promise<ProcessExit> {
    const { clock } = this.#options
    this.#client.close(new AgentprotoError('session_ended', 'The connection was closed'), { by: 'host' })
    await within(this.#carrier.close(), 'No goodbye', { ms: GOODBYE_MS, clock }).catch(() => {})
    await this.#carrier.hangUp().catch(() => {})
    return {}
  }

  async #lost(why: string): Promise<void> {
    if (this.#closing) return
    const message = `The connection to the server was lost: ${why}`
    this.#closing = Promise.resolve({})
    const duringTurn = this.#client.close(new AgentprotoError('agent_exited', message), {
      by: 'failure',
      error: { message },
    })
    await this.#carrier.hangUp().catch(() => {})
    this.#resolveEnd({ duringTurn, cause: 'transport', message, stderrTail: '' })
  }
}
