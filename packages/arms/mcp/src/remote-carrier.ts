import type { Json } from '@agentproto/contracts'
import type { JSONRPCMessage, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Carrier } from './carrier.js'
import { httpFetch } from './http-fetch.js'
import type { McpProfile } from './profile.js'

export interface RemoteCarrierOptions {
  readonly profile: McpProfile
  /** Variables that the profile's headers name. */
  readonly env: Readonly<Record<string, string>>
  /** Takes a message of the server; the promise holds the reading up. */
  readonly take: (message: unknown) => void | Promise<void>
  /** The stream on which everything comes has broken; nothing comes any more. */
  readonly onLost: (why: string) => void
}

/** A server behind a URL: Streamable HTTP, or the HTTP with SSE that came before it. */
export class RemoteCarrier implements Carrier {
  readonly #options: RemoteCarrierOptions
  #transport: Promise<StreamableHTTPClientTransport | SSEClientTransport> | undefined
  #pressure: Promise<unknown> | undefined
  #closed = false

  constructor(options: RemoteCarrierOptions) {
    this.#options = options
  }

  /** Connects, as far as this transport does so before its first message. */
  async open(): Promise<void> {
    this.#transport = this.#create()
    await (await this.#transport).start()
  }

  async send(message: Json, onStreamEnd?: () => void): Promise<void> {
    const transport = await this.#transport
    const more = onStreamEnd === undefined ? {} : { onRequestStreamEnd: onStreamEnd }
    // The SSE transport knows no streams of single requests, and takes no options.
    await (transport as StreamableHTTPClientTransport | undefined)?.send(message as unknown as JSONRPCMessage, more)
  }

  useVersion(version: string): void {
    void this.#transport?.then((transport) => transport.setProtocolVersion?.(version))
  }

  /** Terminates the session on the server, and closes the connection. */
  async close(): Promise<void> {
    if (this.#closed || this.#transport === undefined) return
    this.#closed = true
    const transport = await this.#transport
    if ('terminateSession' in transport) await transport.terminateSession().catch(() => {})
    await transport.close()
  }

  /** Closes the connection without terminating the session. */
  async hangUp(): Promise<void> {
    this.#closed = true
    await (await this.#transport)?.close()
  }

  async #create(): Promise<StreamableHTTPClientTransport | SSEClientTransport> {
    const { profile, env, take, onLost } = this.#options
    const sdk = await import('@modelcontextprotocol/client')
    const url = new URL(profile.url ?? '')
    const options = {
      fetch: httpFetch(() => this.#pressure),
      requestInit: { headers: filledHeaders(profile.data.headers ?? {}, env) },
    }
    const transport =
      profile.transport === 'sse'
        ? new sdk.SSEClientTransport(url, options)
        : new sdk.StreamableHTTPClientTransport(url, options)
    Object.assign(transport, {
      onmessage: (message: unknown) => this.#took(take(message)),
      onerror: (error: Error) => {
        if (profile.transport === 'sse' && !this.#closed) onLost(error.message)
      },
    })
    return transport
  }

  #took(taking: void | Promise<void>): void {
    if (!taking) return
    const pressure = Promise.all([this.#pressure, taking]).finally(() => {
      if (this.#pressure === pressure) this.#pressure = undefined
    })
    this.#pressure = pressure
  }
}

/** `{NAME}` is a variable of the agent's environment: secrets stand there, never in a manifest. */
function filledHeaders(
  headers: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
): Record<string, string> {
  const fill = (template: string): string =>
    template.replaceAll(/\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => env[name] ?? '')
  return Object.fromEntries(Object.entries(headers).map(([name, template]) => [name, fill(template)]))
}
