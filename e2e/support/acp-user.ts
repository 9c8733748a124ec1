import { client, RequestError } from '@agentclientprotocol/sdk'
import type {
  AnyMessage,
  ClientCapabilities,
  ClientContext,
  InitializeResponse,
  SessionNotification,
  SessionUpdate,
  Stream,
} from '@agentclientprotocol/sdk'

/** A question of the agent to the user of a client. */
export interface Dialog {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  /** Whether it was cancelled. */
  readonly taken: () => boolean
  answer(result: object): void
}

/** The official ACP client over any wire, and what it was sent. */
export interface AcpUser {
  readonly agent: ClientContext
  readonly initialized: InitializeResponse
  readonly updates: SessionNotification[]
  readonly dialogs: Dialog[]
  /** Every message that came, in its order, before the SDK sees it. */
  readonly received: readonly AnyMessage[]
  /** Settles when the connection has ended. */
  readonly closed: Promise<unknown>
  /** All text of the agent for this client, joined. */
  said(kind?: SessionUpdate['sessionUpdate']): string
  prompt(sessionId: string, text: string): Promise<{ stopReason: string }>
  /** Ends the connection, as a client does that is closed. */
  leave(): void
}

/** Connects the client, and initializes. */
export async function connectUser(stream: Stream, clientCapabilities: ClientCapabilities = {}): Promise<AcpUser> {
  const received: AnyMessage[] = []
  const { app, updates, dialogs } = watching()
  const connection = app.connect({ writable: stream.writable, readable: stream.readable.pipeThrough(noted(received)) })
  const { agent } = connection
  const initialized = await agent.request('initialize', { protocolVersion: 1, clientCapabilities })
  return {
    agent,
    initialized,
    updates,
    dialogs,
    received,
    closed: connection.closed,
    said: (kind = 'agent_message_chunk') =>
      updates.map(({ update }) => (update.sessionUpdate === kind ? textOf(update) : '')).join(''),
    prompt: (sessionId, text) => agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }),
    leave: () => connection.close(),
  }
}

function watching(): Pick<AcpUser, 'updates' | 'dialogs'> & { app: ReturnType<typeof client> } {
  const updates: SessionNotification[] = []
  const dialogs: Dialog[] = []
  const ask = (method: string, params: unknown, signal: AbortSignal): Promise<never> =>
    new Promise((resolve, reject) => {
      const answer = (result: object): void => resolve(result as never)
      dialogs.push({ method, params: params as Dialog['params'], taken: () => signal.aborted, answer })
      signal.addEventListener('abort', () => reject(RequestError.requestCancelled()))
    })
  const app = client({ name: 'editor' })
    .onNotification('session/update', ({ params }) => void updates.push(params))
    .onRequest('session/request_permission', ({ method, params, signal }) => ask(method, params, signal))
    .onRequest('elicitation/create', ({ method, params, signal }) => ask(method, params, signal))
  return { updates, dialogs, app }
}

/** Drops responses without a request, which the SDK would print. */
const noted = (received: AnyMessage[]): TransformStream<AnyMessage, AnyMessage> =>
  new TransformStream({
    transform(message, controller) {
      received.push(message)
      if (!('id' in message && message.id === null)) controller.enqueue(message)
    },
  })

const textOf = (update: SessionUpdate): string =>
  'content' in update && update.content !== undefined && update.content !== null && 'text' in update.content
    ? update.content.text
    : ''
