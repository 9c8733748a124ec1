import { randomUUID } from 'node:crypto'
import { AcpHttpClient, type AcpHttpClientOptions } from 'acp-http-client'
import { onTestFinished } from 'vitest'
import type { Place } from './acp-wires.js'

type Handlers = NonNullable<AcpHttpClientOptions['client']>
type Permission = Parameters<NonNullable<Handlers['requestPermission']>>[0]

/** The package `acp-http-client`, and what it was sent. */
export interface OneStreamUser {
  readonly client: AcpHttpClient
  readonly permissions: readonly Permission[]
  said(): string
  prompt(sessionId: string, text: string): Promise<{ stopReason: string }>
}

export interface OneStreamOptions {
  /** Answers a permission; default: it is never answered. */
  readonly answer?: string | undefined
  readonly id?: string
}

/** Connects and initializes it. Disconnected after the test. */
export async function overOneStream(
  { url, token, path = '/acp/demo' }: Place,
  { answer, id = randomUUID() }: OneStreamOptions = {},
): Promise<OneStreamUser> {
  const permissions: Permission[] = []
  let text = ''
  const client = new AcpHttpClient({
    baseUrl: url,
    token,
    headers: { 'acp-client-id': id },
    transport: { path },
    client: {
      async sessionUpdate({ update }) {
        if (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text')
          text += update.content.text
      },
      async requestPermission(permission) {
        permissions.push(permission)
        if (answer === undefined) return new Promise(() => undefined)
        const { optionId } = permission.options.find((option: { readonly kind: string }) => option.kind === answer) ?? {
          optionId: answer,
        }
        return { outcome: { outcome: 'selected', optionId } }
      },
    },
  })
  onTestFinished(() => client.disconnect())
  await client.initialize()
  return {
    client,
    permissions,
    said: () => text,
    prompt: (sessionId, words) => client.prompt({ sessionId, prompt: [{ type: 'text', text: words }] }),
  }
}
