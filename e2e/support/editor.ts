import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { client, ndJsonStream, RequestError } from '@agentclientprotocol/sdk'
import type {
  AnyMessage,
  ClientCapabilities,
  ClientContext,
  SessionNotification,
  SessionUpdate,
} from '@agentclientprotocol/sdk'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from './temporary-folder.js'

const CLI = fileURLToPath(new URL('../../packages/cli/bin/agentproto.mjs', import.meta.url))

/** A question of the agent to the user of an editor. */
export interface Dialog {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  /** Whether it was cancelled. */
  readonly taken: () => boolean
  answer(result: object): void
}

/** The official ACP client, whose agent is `agentproto acp` as a process. */
export interface Editor {
  readonly agent: ClientContext
  readonly updates: SessionNotification[]
  readonly dialogs: Dialog[]
  /** All text of the agent for this editor, joined. */
  said(kind?: SessionUpdate['sessionUpdate']): string
  prompt(sessionId: string, text: string): Promise<{ stopReason: string }>
  /** Writes to stdin, outside the protocol. */
  write(text: string): void
  /** The end of stdin, as when an editor is closed. */
  leave(): Promise<{ readonly code: number | null; readonly stderr: string }>
  /** SIGKILL. */
  crash(): Promise<void>
}

interface Options {
  readonly flags?: readonly string[]
  readonly capabilities?: ClientCapabilities
}

/** @param env The gateway: `AGENTPROTO_URL` and `AGENTPROTO_TOKEN`, or `AGENTPROTO_HOME` */
export async function startEditor(
  env: Readonly<Record<string, string>>,
  { flags = [], capabilities = {} }: Options = {},
): Promise<Editor> {
  const child = spawn(process.execPath, [CLI, 'acp', ...flags], {
    cwd: temporaryFolder('editor'),
    env: { ...process.env, AGENTPROTO_NO_START: '1', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await closed
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  child.stdin.on('error', () => undefined)
  const { app, updates, dialogs } = watching()
  const stdout = Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>
  const { writable, readable } = ndJsonStream(Writable.toWeb(child.stdin), stdout)
  const { agent } = app.connect({ writable, readable: readable.pipeThrough(toSomebody()) })
  await agent.request('initialize', { protocolVersion: 1, clientCapabilities: capabilities })
  return {
    agent,
    updates,
    dialogs,
    said: (kind = 'agent_message_chunk') =>
      updates.map(({ update }) => (update.sessionUpdate === kind ? textOf(update) : '')).join(''),
    prompt: (sessionId, text) => agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }),
    write: (text) => void child.stdin.write(text),
    async leave() {
      child.stdin.end()
      const [code] = (await closed) as [number | null]
      return { code, stderr }
    },
    async crash() {
      child.kill('SIGKILL')
      await closed
    },
  }
}

function watching(): Pick<Editor, 'updates' | 'dialogs'> & { app: ReturnType<typeof client> } {
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
const toSomebody = (): TransformStream<AnyMessage, AnyMessage> =>
  new TransformStream({
    transform(message, controller) {
      if (!('id' in message && message.id === null)) controller.enqueue(message)
    },
  })

const textOf = (update: SessionUpdate): string =>
  'content' in update && update.content !== undefined && update.content !== null && 'text' in update.content
    ? update.content.text
    : ''
