import { fileURLToPath } from 'node:url'
import { proprietaryArm } from '@agentproto/arm-proprietary'
import type { ProprietaryProfile } from '@agentproto/arm-proprietary'
import { launchOf, RecordingSink } from '@agentproto/arm-testing'
import { systemClock } from '@agentproto/contracts'
import { type AgentSignal, type ArmLimits, DEFAULT_ARM_LIMITS, type Launch } from '@agentproto/contracts/agent'
import { onTestFinished } from 'vitest'
import own from '../package.json' with { type: 'json' }

export const profile = (settings: unknown): ProprietaryProfile => ({
  adapter: '@agentproto/adapter-pty-repl',
  allowed: {
    '@agentproto/adapter-pty-repl': { version: own.version, module: () => import('@agentproto/adapter-pty-repl') },
  },
  capabilities: {
    streaming: true,
    toolCalls: false,
    subAgents: false,
    fileIo: false,
    multimodal: false,
    resumable: false,
    bidirectional: true,
  },
  settings,
})

export const repl = (start = 'well'): Launch =>
  launchOf([fileURLToPath(new URL('fixtures/repl.mjs', import.meta.url)), start])

/** Opens a program in a terminal. */
export async function open(launch: Launch, settings: unknown, limits: Partial<ArmLimits> = {}) {
  const connection = await proprietaryArm.connect({
    launch,
    limits: { ...DEFAULT_ARM_LIMITS, termGraceMs: 500, ...limits },
    clock: systemClock,
    signal: new AbortController().signal,
    client: { name: 'test', version: '0' },
    profile: profile(settings),
  })
  onTestFinished(async () => void (await connection.close()))
  const sink = new RecordingSink()
  const ground = { cwd: launch.cwd, additionalDirectories: [], mcpServers: [], origin: { how: 'new' as const } }
  const session = await connection.openSession(ground, sink)
  const turn = async (text: string): Promise<readonly AgentSignal[]> => {
    const from = sink.signals.length
    await session.send([{ type: 'text', text }])
    return sink.signals.slice(from)
  }
  /** What it showed in answer. */
  const say = async (text: string): Promise<string> =>
    (await turn(text)).flatMap((signal) => (signal.type === 'text-delta' ? [signal.text] : [])).join('')
  return { connection, session, sink, turn, say }
}
