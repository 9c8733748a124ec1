import { fileURLToPath } from 'node:url'
import { connectAcp } from '@agentproto/acp'
import type { AcpConnection } from '@agentproto/acp'
import { type AgentAnswer, type AgentRequest, systemClock } from '@agentproto/contracts'
import {
  type AgentSignal,
  type AgentSink,
  type ArmConnectOptions,
  type ArmLimits,
  type ArmSession,
  DEFAULT_ARM_LIMITS,
  type McpServer,
  type SessionOrigin,
} from '@agentproto/contracts/agent'
import { onTestFinished } from 'vitest'

export interface Recorder extends AgentSink {
  readonly signals: AgentSignal[]
  readonly batches: (readonly AgentSignal[])[]
  readonly asked: { readonly request: AgentRequest; readonly signal: AbortSignal }[]
  /** What was said so far, joined. */
  text(): string
  ofType<T extends AgentSignal['type']>(type: T): Extract<AgentSignal, { type: T }>[]
}

/** A sink that keeps everything and answers with the given answer, or not at all. */
export function recorder(
  answer?: AgentAnswer | ((request: AgentRequest, signal: AbortSignal) => Promise<AgentAnswer>),
): Recorder {
  const signals: AgentSignal[] = []
  const batches: (readonly AgentSignal[])[] = []
  const asked: { request: AgentRequest; signal: AbortSignal }[] = []
  const ofType = <T extends AgentSignal['type']>(type: T): Extract<AgentSignal, { type: T }>[] =>
    signals.filter((signal): signal is Extract<AgentSignal, { type: T }> => signal.type === type)
  return {
    signals,
    batches,
    asked,
    ofType,
    text: () =>
      ofType('text-delta')
        .map(({ text }) => text)
        .join(''),
    emit(batch) {
      batches.push(batch)
      signals.push(...batch)
    },
    ask(request, signal) {
      asked.push({ request, signal })
      if (typeof answer === 'function') return answer(request, signal)
      return answer ? Promise.resolve(answer) : new Promise(() => {})
    },
  }
}

let launches = 0

/** Options to connect to a fixture; the first word is its file, the rest its arguments. */
export function fixture(words: string, limits: Partial<ArmLimits> = {}): ArmConnectOptions {
  const [name, ...args] = words.split(' ')
  const marker = `acp-test-${process.pid}-${launches++}`
  return {
    launch: {
      command: process.execPath,
      args: [fileURLToPath(new URL(`fixtures/${name}.mjs`, import.meta.url)), ...args],
      cwd: process.cwd(),
      env: { PATH: process.env['PATH'] ?? '', AGENTPROTO_SESSION_ID: marker },
      marker,
    },
    limits: { ...DEFAULT_ARM_LIMITS, stdinGraceMs: 300, termGraceMs: 300, ...limits },
    clock: systemClock,
    signal: new AbortController().signal,
    client: { name: 'test', version: '0' },
  }
}

/** Connects to a fixture and ends it with the test. */
export async function connect(words: string, limits?: Partial<ArmLimits>): Promise<AcpConnection> {
  const connection = await connectAcp(fixture(words, limits))
  onTestFinished(async () => void (await connection.close()))
  return connection
}

export interface Opened {
  readonly connection: AcpConnection
  readonly session: ArmSession
  readonly sink: Recorder
  /** Sends a text and resolves with the signals of its turn. */
  say(text: string): Promise<readonly AgentSignal[]>
}

export interface OpenOptions {
  readonly sink?: Recorder
  readonly origin?: SessionOrigin
  readonly mcpServers?: readonly McpServer[]
  readonly additionalDirectories?: readonly string[]
  readonly limits?: Partial<ArmLimits>
}

/** Connects and opens a session. */
export async function open(words: string, options: OpenOptions = {}): Promise<Opened> {
  const { sink = recorder(), origin = { how: 'new' }, mcpServers = [], additionalDirectories = [] } = options
  const connection = await connect(words, options.limits)
  const session = await connection.openSession({ cwd: process.cwd(), additionalDirectories, mcpServers, origin }, sink)
  const say = async (text: string): Promise<readonly AgentSignal[]> => {
    const from = sink.signals.length
    await session.send([{ type: 'text', text }])
    return sink.signals.slice(from)
  }
  return { connection, session, sink, say }
}
