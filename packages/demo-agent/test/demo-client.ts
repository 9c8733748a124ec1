import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import {
  client,
  ndJsonStream,
  type ClientContext,
  type CreateElicitationResponse,
  type PromptResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'
import { onTestFinished } from 'vitest'
import { builtDemoAgent } from './built-agent.js'

/** How the client answers what the agent asks. */
export interface DemoClientOptions {
  readonly args?: readonly string[]
  readonly home?: string
  readonly cwd?: string
  readonly onPermission?: (request: RequestPermissionRequest) => Promise<RequestPermissionResponse>
  readonly onQuestion?: () => Promise<CreateElicitationResponse>
}

/** A raw SDK client over a real agent process, with one session. */
export interface DemoClient {
  readonly child: ChildProcess
  readonly agent: ClientContext
  readonly cwd: string
  readonly home: string
  readonly sessionId: string
  /** Everything the agent said since the last prompt began. */
  readonly updates: SessionUpdate[]
  readonly stdout: () => string
  prompt(text: string): Promise<PromptResponse>
  /** Prompts and returns the agent's text. */
  say(text: string): Promise<string>
  cancel(): Promise<void>
  /** Settles with the exit code, or the signal's name. */
  readonly exited: Promise<number | string>
}

export async function startDemoClient(options: DemoClientOptions = {}): Promise<DemoClient> {
  const connected = await connectDemoAgent(options)
  const { sessionId } = await connected.agent.request('session/new', { cwd: connected.cwd, mcpServers: [] })
  return { ...connected, ...talk(connected, sessionId) }
}

export type ConnectedAgent = Pick<DemoClient, 'child' | 'agent' | 'cwd' | 'home' | 'updates' | 'exited' | 'stdout'>

/** The calls of one session. */
export function talk({ agent, updates }: ConnectedAgent, sessionId: string) {
  const prompt = (text: string): Promise<PromptResponse> => {
    updates.length = 0
    return agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })
  }
  return {
    sessionId,
    prompt,
    async say(text: string): Promise<string> {
      await prompt(text)
      return saidText(updates)
    },
    cancel: () => agent.notify('session/cancel', { sessionId }),
  }
}

/** A process that has answered `initialize`. */
export async function connectDemoAgent(options: DemoClientOptions = {}): Promise<ConnectedAgent> {
  const home = options.home ?? temporaryFolder()
  const cwd = options.cwd ?? temporaryFolder()
  const child = spawn(process.execPath, [builtDemoAgent(), ...(options.args ?? [])], {
    cwd,
    env: { ...process.env, AGENTPROTO_DEMO_HOME: home },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit').then(([code, signal]) => code ?? signal)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const updates: SessionUpdate[] = []
  let stdout = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')))
  const app = client({ name: 'test' })
    .onNotification('session/update', ({ params }) => void updates.push(params.update))
    .onRequest('session/request_permission', ({ params }) => (options.onPermission ?? rejectAll)(params))
    .onRequest('elicitation/create', () => (options.onQuestion ?? decline)())
  const { agent } = app.connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)))
  const clientCapabilities = { elicitation: { form: {} } }
  await agent.request('initialize', { protocolVersion: 1, clientCapabilities })
  return { child, agent, cwd, home, updates, exited, stdout: () => stdout }
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'demo-agent-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const rejectAll = async (): Promise<RequestPermissionResponse> => select('reject')
const decline = async (): Promise<CreateElicitationResponse> => ({ action: 'decline' })

export const select = (optionId: string): RequestPermissionResponse => ({ outcome: { outcome: 'selected', optionId } })

export function saidText(updates: readonly SessionUpdate[]): string {
  return updates.map((update) => (update.sessionUpdate === 'agent_message_chunk' ? textOf(update) : '')).join('')
}

function textOf(update: SessionUpdate & { sessionUpdate: 'agent_message_chunk' }): string {
  return update.content.type === 'text' ? update.content.text : ''
}

/** Whether a process runs; a zombie does not. */
export function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
