import { connectProprietary } from '@agentproto/arm-proprietary'
import type { AllowedAdapter, ProprietaryProfile } from '@agentproto/arm-proprietary'
import { launchOf, RecordingSink } from '@agentproto/arm-testing'
import { systemClock } from '@agentproto/contracts'
import {
  type AgentCliCapabilities,
  type AgentCliClient,
  type AgentCliEvent,
  type AgentSignal,
  type ArmConnection,
  type ArmLimits,
  type ArmSession,
  DEFAULT_ARM_LIMITS,
} from '@agentproto/contracts/agent'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export const capabilities: AgentCliCapabilities = {
  streaming: true,
  toolCalls: true,
  subAgents: false,
  fileIo: false,
  multimodal: false,
  resumable: false,
  bidirectional: true,
}

export const packagePath = (path: string): string =>
  fileURLToPath(new URL(`fixtures/packages/${path}`, import.meta.url))

/** Connects through an adapter that the host allows, and closes with the test. */
export async function connect(
  profile: Partial<ProprietaryProfile>,
  limits: Partial<ArmLimits> = {},
): Promise<ArmConnection> {
  const connection = await connectProprietary({
    launch: launchOf([]),
    limits: { ...DEFAULT_ARM_LIMITS, stdinGraceMs: 100, termGraceMs: 100, ...limits },
    clock: systemClock,
    signal: new AbortController().signal,
    client: { name: 'test', version: '0' },
    profile: { adapter: 'test', allowed: {}, capabilities, ...profile },
  })
  onTestFinished(async () => void (await connection.close()))
  return connection
}

/** An allow-list with one module, made here. */
export const allow = (exported: unknown): Readonly<Record<string, AllowedAdapter>> => ({
  test: { version: '1.0.0', module: async () => ({ default: exported }) },
})

export interface Talking {
  readonly connection: ArmConnection
  readonly session: ArmSession
  readonly sink: RecordingSink
  say(text: string): Promise<readonly AgentSignal[]>
}

/** Opens a session with an adapter that behaves well except for the given overrides. */
export async function talk(odd: Partial<AgentCliClient>, more: Partial<ProprietaryProfile> = {}): Promise<Talking> {
  const connection = await connect({ allowed: allow(adapter(odd)), ...more })
  const sink = new RecordingSink()
  const opening = { cwd: process.cwd(), additionalDirectories: [], mcpServers: [], origin: { how: 'new' as const } }
  const session = await connection.openSession(opening, sink)
  const say = async (text: string): Promise<readonly AgentSignal[]> => {
    const from = sink.signals.length
    await session.send([{ type: 'text', text }])
    return sink.signals.slice(from)
  }
  return { connection, session, sink, say }
}

/** A client that ends each turn at once; `odd` replaces methods. */
export const adapter = (odd: Partial<AgentCliClient>): AgentCliClient => ({
  connect: async () => {},
  send: async () => {},
  events: () => of({ type: 'text-delta', text: 'hi' }, { type: 'turn-end', reason: 'end_turn' }),
  cancel: async () => {},
  close: async () => {},
  ...odd,
})

/** The events of one turn. */
export async function* of(...events: readonly unknown[]): AsyncGenerator<AgentCliEvent, void, undefined> {
  for (const event of events) yield event as AgentCliEvent
}

export const never = (): Promise<never> => new Promise(() => {})
