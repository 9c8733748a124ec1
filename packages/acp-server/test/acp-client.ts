import { client, RequestError } from '@agentclientprotocol/sdk'
import type { AnyMessage, ClientCapabilities, ClientContext, SessionUpdate } from '@agentclientprotocol/sdk'
import { createAcpServer } from '@agentproto/acp-server'
import type { AcpOpenRequest, AcpServer } from '@agentproto/acp-server'
import type { AgentCapabilities } from '@agentproto/contracts'
import { onTestFinished } from 'vitest'
import { FakeSessions } from './fake-sessions.ts'

export interface Asked {
  readonly method: string
  readonly params: Record<string, unknown>
  readonly signal: AbortSignal
  answer(result: object): void
}

export interface TestClient {
  readonly agent: ClientContext
  readonly sessions: FakeSessions
  readonly server: AcpServer
  readonly updates: { sessionId: string; update: SessionUpdate }[]
  /** What the server asked, in order. */
  readonly asked: Asked[]
  readonly opened: AcpOpenRequest[]
  readonly problems: string[]
  /** Every line of the server. */
  readonly lines: string[]
  /** The client's end of the connection is closed. */
  leave(): void
  /** Sends a line as it is. */
  say(line: string): void
}

interface Options {
  readonly sessions?: FakeSessions
  readonly capabilities?: ClientCapabilities
  /** What `session/new` gives. */
  readonly attach?: string
  /** What is known of the agent. */
  readonly agent?: AgentCapabilities
}

/** The official client, connected to a server over a fake gateway. */
export async function connectedClient({
  sessions = new FakeSessions(),
  capabilities = {},
  attach,
  agent,
}: Options = {}): Promise<TestClient> {
  const input = new TransformStream<Uint8Array, Uint8Array>(undefined, { highWaterMark: 1_000 })
  const bytes = input.writable.getWriter()
  const say = (line: string): void => void bytes.write(new TextEncoder().encode(`${line}\n`))
  const [opened, problems, lines] = [[] as AcpOpenRequest[], [] as string[], [] as string[]]
  let incoming: ReadableStreamDefaultController<AnyMessage> | undefined
  const readable = new ReadableStream<AnyMessage>({ start: (controller) => void (incoming = controller) })
  const server = createAcpServer({
    sessions,
    watch: (watching) => sessions.watch(watching),
    isElsewhere: ({ hostId }) => hostId === 'far',
    login: async () => ({ name: 'Log in', args: ['--login'] }),
    ...(agent === undefined ? {} : { agent: async () => agent }),
    open: async (request) => {
      opened.push(request)
      if (attach !== undefined) return { session: await sessions.get(attach), attached: true }
      return {
        session: sessions.add(`s${opened.length}`, { ...CONFIGURED, ...sessions.created }).snapshot(),
        attached: false,
      }
    },
    info: { name: 'agentproto', version: '1.2.3' },
    input: input.readable,
    write(line) {
      lines.push(line)
      const message = JSON.parse(line) as AnyMessage
      // The client's SDK would print a response without a request.
      if (!('id' in message) || message.id !== null) incoming?.enqueue(message)
    },
    onProblem: (problem) => problems.push(problem),
  })
  const { updates, asked, app } = clientApp()
  const writable = new WritableStream<AnyMessage>({ write: (message) => say(JSON.stringify(message)) })
  const connection = app.connect({ readable, writable })
  const leave = (): void => void bytes.close().catch(() => undefined)
  onTestFinished(async () => {
    leave()
    await server.closed
    connection.close()
  })
  await connection.agent.request('initialize', { protocolVersion: 1, clientCapabilities: capabilities })
  return { agent: connection.agent, sessions, server, updates, asked, opened, problems, lines, leave, say }
}

function clientApp(): Pick<TestClient, 'updates' | 'asked'> & { app: ReturnType<typeof client> } {
  const updates: TestClient['updates'] = []
  const asked: Asked[] = []
  const ask = (method: string, params: unknown, signal: AbortSignal): Promise<object> =>
    new Promise((resolve, reject) => {
      asked.push({ method, params: params as Record<string, unknown>, signal, answer: resolve })
      signal.addEventListener('abort', () => reject(RequestError.requestCancelled()))
    })
  const app = client({ name: 'test' })
    .onNotification('session/update', ({ params }) => void updates.push(params))
    .onRequest(
      'session/request_permission',
      async ({ method, params, signal }) => (await ask(method, params, signal)) as never,
    )
    .onRequest('elicitation/create', async ({ method, params, signal }) => (await ask(method, params, signal)) as never)
  return { updates, asked, app }
}

export const CONFIGURED = {
  config: {
    modeId: 'default',
    modes: [
      { id: 'default', name: 'Default' },
      { id: 'plan', name: 'Plan' },
    ],
    options: [
      { id: 'effort', name: 'Effort', value: 'low', values: [{ value: 'low', name: 'Low' }] },
      { id: 'fast', name: 'Fast', value: true },
    ],
    modelId: 'big',
    models: [{ id: 'big', name: 'Big' }],
    commands: [{ name: 'init', description: 'Looks around', hint: 'where' }],
  },
} as const
