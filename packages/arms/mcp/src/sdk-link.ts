import type { Client, JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { within } from '@agentproto/arm-kit'
import { type AgentInfo, asString, defined, type Json } from '@agentproto/contracts'
import type { ArmConnectOptions } from '@agentproto/contracts/agent'
import type { Carrier } from './carrier.js'

/** What the server said of itself. */
export type ServerInfo = Pick<AgentInfo, 'name' | 'version'>

interface SdkLinkOptions extends Pick<ArmConnectOptions, 'client' | 'clock'> {
  readonly carrier: Carrier
}

/**
 * The client of the official SDK, fed with objects: it negotiates the protocol. Its time limit of 60 s a request, its schemas
 * and its process handling are not used for turns. Imported while the agent boots, which takes longer; an agent that another
 * host has started needs none of it.
 */
export class SdkLink {
  readonly #options: SdkLinkOptions
  /** Ids that the SDK waits for. */
  readonly #waiting = new Set<unknown>()
  #transport: Transport | undefined
  #isClosed = false
  /** Rejects `#gone`. */
  #lose: (reason: Error) => void = () => {}
  readonly #gone = new Promise<never>((_, reject) => (this.#lose = reject))

  constructor(options: SdkLinkOptions) {
    this.#options = options
    // The caller of `initialize` receives the error; there may be none yet.
    this.#gone.catch(() => {})
  }

  /** Whether a response belongs to the SDK; each is taken once. */
  expects(id: unknown): boolean {
    return this.#waiting.delete(id)
  }

  /** Passes a message of the server to the SDK. */
  take(message: Json): void {
    if (!this.#isClosed) this.#transport?.onmessage?.(message as JSONRPCMessage)
  }

  /**
   * Shakes hands.
   * @param limitMs milliseconds until it is given up
   * @throws what the server answered, `timeout`, or the reason of `close`
   */
  initialize(limitMs: number): Promise<ServerInfo> {
    const limit = { ms: limitMs, clock: this.#options.clock }
    return within(Promise.race([this.#gone, this.#shake()]), 'The agent did not answer initialize', limit)
  }

  /** Nothing more will come. */
  close(reason: Error): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#lose(reason)
    this.#transport?.onclose?.()
  }

  async #shake(): Promise<ServerInfo> {
    const client = await create(this.#options.client)
    this.#transport = this.#feed()
    // Our own limit is the one that counts.
    await client.connect(this.#transport, { timeout: 2 ** 31 - 1 })
    const { name, version } = client.getServerVersion() ?? {}
    return defined({ name: asString(name), version: asString(version) })
  }

  #feed(): Transport {
    const { carrier } = this.#options
    return {
      start: async () => {},
      send: async (message) => {
        if ('method' in message && 'id' in message) this.#waiting.add(message.id)
        await carrier.send(message)
      },
      close: async () => {},
      setProtocolVersion: (version) => carrier.useVersion(version),
    }
  }
}

/**
 * The capabilities of this client: questions and roots. Always the protocol before 2026-07-28, which old and new servers
 * speak: asking for the newer one first starts some servers twice.
 */
async function create({ name, version }: SdkLinkOptions['client']): Promise<Client> {
  const sdk = await import('@modelcontextprotocol/client')
  return new sdk.Client(
    { name, version },
    {
      capabilities: { elicitation: { form: {}, url: {} }, roots: {} },
      versionNegotiation: { mode: 'legacy' },
    },
  )
}
