import { type Clock, randomId, systemClock } from '@agentproto/contracts'
import type { AgentSignal, RunningAgent, SessionOrigin } from '@agentproto/contracts/agent'
import type { AgentHost } from '@agentproto/driver-agent-cli'
import { launchAgent } from '@agentproto/driver-agent-cli'
import { expect, onTestFinished, test } from 'vitest'
import { host, small } from './small-agent.ts'

// An agent that names its records by the minute corrupts one that is resumed within it.

const { manifest } = small()
const hasty = { ...manifest, metadata: { agentproto: { resume_after_ms: 61_000 } } }
const LOADED: SessionOrigin = { how: 'load', agentSessionId: 's1' }

/** The system's clock, but that the long timers of the test are run by hand, and the time is the test's. */
class OwnTime implements Clock {
  time = 1_000_000
  readonly waits: { readonly ms: number; readonly run: () => void }[] = []

  now(): number {
    return this.time
  }

  after(ms: number, run: () => void): ReturnType<Clock['after']> {
    if (ms < 50_000 || ms === 60_000) return systemClock.after(ms, run)
    this.waits.push({ ms, run })
    return { cancel: () => {} }
  }
}

interface Starting {
  readonly agentHost: AgentHost
  readonly origin?: SessionOrigin
  readonly signal?: AbortSignal
  readonly signals?: AgentSignal[]
}

async function start({ agentHost, origin = { how: 'new' }, signal, signals = [] }: Starting): Promise<RunningAgent> {
  const agent = await launchAgent(hasty, {
    sessionId: randomId('ses_'),
    adapterSlug: 'small',
    cwd: '/',
    additionalDirectories: [],
    mcpServers: [],
    origin,
    env: {},
    signal: signal ?? new AbortController().signal,
    sink: { emit: (batch) => void signals.push(...batch), ask: async () => ({ outcome: 'cancelled' }) },
    host: agentHost,
    moreArgs: ['--load'],
  })
  onTestFinished(async () => void (await agent.stop()))
  return agent
}

test('a conversation is gone on with when its agent can, and not before; it says so', async () => {
  const clock = new OwnTime()
  const agentHost = { ...host, clock }
  const first = await start({ agentHost })
  await first.stop()
  clock.time += 11_000
  const signals: AgentSignal[] = []
  const second = start({ agentHost, origin: LOADED, signals })
  await expect.poll(() => clock.waits.map(({ ms }) => ms), { timeout: 10_000 }).toEqual([50_000])
  expect(signals).toMatchObject([{ type: 'notice', severity: 'info', text: expect.stringContaining('50 s') as string }])
  clock.time += 50_000
  clock.waits[0]?.run()
  await (await second).stop()
  // The second start was one too.
  clock.time += 61_000
  await start({ agentHost, origin: LOADED })
  expect(clock.waits).toHaveLength(1)
})

test('a start that is cancelled meanwhile starts nothing', async () => {
  const clock = new OwnTime()
  const agentHost = { ...host, clock }
  await (await start({ agentHost })).stop()
  const abort = new AbortController()
  const second = start({ agentHost, origin: LOADED, signal: abort.signal })
  await expect.poll(() => clock.waits.length, { timeout: 10_000 }).toBe(1)
  abort.abort()
  await expect(second).rejects.toMatchObject({ code: 'cancelled' })
})

test('what this gateway has not started, it does not wait for', async () => {
  const clock = new OwnTime()
  await start({ agentHost: { ...host, clock }, origin: LOADED })
  expect(clock.waits).toEqual([])
})
