import { acpArm, type AcpArmProfile, type EndpointAccess } from '@agentproto/acp'
import { systemClock, type Clock } from '@agentproto/contracts'
import {
  type AgentSignal,
  type ArmConnection,
  type ArmConnectOptions,
  type ArmLimits,
  type ArmSession,
  DEFAULT_ARM_LIMITS,
  type OpenSessionOptions,
} from '@agentproto/contracts/agent'
import { RecordingSink } from '@agentproto/arm-testing'
import { onTestFinished } from 'vitest'
import { type RemoteAgent, type RemoteAgentOptions, startRemoteAgent } from './fixtures/remote-agent.ts'

export const opening = {
  cwd: '/work',
  additionalDirectories: [],
  mcpServers: [],
  origin: { how: 'new' },
} as const satisfies OpenSessionOptions

export interface Connect {
  readonly url: string
  readonly access?: () => Promise<EndpointAccess>
  readonly limits?: Partial<ArmLimits>
  readonly clock?: Clock
  readonly signal?: AbortSignal
  readonly secrets?: readonly string[]
}

const optionsOf = ({ url, access, limits, clock = systemClock, signal, secrets }: Connect): ArmConnectOptions => ({
  launch: { command: '', args: [], cwd: '/work', env: {}, marker: 'remote' },
  limits: { ...DEFAULT_ARM_LIMITS, ...limits },
  clock,
  signal: signal ?? new AbortController().signal,
  client: { name: 'test', version: '0' },
  profile: {
    endpoint: { url, connect: access ?? (async () => ({ headers: {} })), ...(secrets ? { secrets } : {}) },
  } satisfies AcpArmProfile,
})

export async function connect(options: Connect): Promise<ArmConnection> {
  const connection = await acpArm.connect(optionsOf(options))
  onTestFinished(async () => void (await connection.close()))
  return connection
}

export interface Opened {
  readonly agent: RemoteAgent
  readonly connection: ArmConnection
  readonly session: ArmSession
  readonly sink: RecordingSink
  say(text: string): Promise<readonly AgentSignal[]>
}

export async function open(options: RemoteAgentOptions & Omit<Connect, 'url'> = {}): Promise<Opened> {
  const agent = await startRemoteAgent(options)
  const connection = await connect({ ...options, url: agent.url })
  const sink = new RecordingSink()
  const session = await connection.openSession(opening, sink)
  const say = async (text: string): Promise<readonly AgentSignal[]> => {
    const from = sink.signals.length
    await session.send([{ type: 'text', text }])
    return sink.signals.slice(from)
  }
  return { agent, connection, session, sink, say }
}

export const textOf = (signals: readonly AgentSignal[]): string =>
  signals.map((signal) => (signal.type === 'text-delta' ? signal.text : '')).join('')

export { RecordingSink }
