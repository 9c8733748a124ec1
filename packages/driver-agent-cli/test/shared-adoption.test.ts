import { fileURLToPath } from 'node:url'
import type { AdoptedAgent, AgentSignal, AgentSink, RunningAgent } from '@agentproto/contracts/agent'
import { type AgentHost, adoptAgent, launchAgent, SharedProcesses } from '@agentproto/driver-agent-cli'
import { findMarkedProcesses, identify } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { MemoryKeeper } from '../../../tooling/memory-keeper.ts'
import { document, host, small } from './small-agent.ts'

const agentFile = fileURLToPath(new URL('fixtures/several.mjs', import.meta.url))
const manifest = { ...small().manifest, metadata: { agentproto: { process: 'shared' } } }
const ended = (agent: RunningAgent): boolean => identify(agent.process?.pid ?? 0) === undefined

interface Member {
  readonly sessionId: string
  readonly agent: RunningAgent
  readonly signals: AgentSignal[]
}

const onKeeper = (keeper: MemoryKeeper): AgentHost => ({
  ...host,
  executables: { [document.bin ?? '']: agentFile },
  sharedProcesses: new SharedProcesses(),
  keeper,
})

function storing(before: readonly AgentSignal[] = []): { readonly sink: AgentSink; readonly signals: AgentSignal[] } {
  const signals: AgentSignal[] = []
  const sink: AgentSink = {
    emit: async (batch) => void signals.push(...batch),
    ask: async () => ({ outcome: 'cancelled' }),
    mark: () => before.length + signals.length,
  }
  return { sink, signals }
}

const optionsOf = (sessionId: string, on: AgentHost, sink: AgentSink) => ({
  sessionId,
  adapterSlug: 'small',
  cwd: process.cwd(),
  additionalDirectories: [],
  mcpServers: [],
  origin: { how: 'new' as const },
  env: {},
  signal: new AbortController().signal,
  sink,
  host: on,
})

async function started(on: AgentHost): Promise<Member> {
  const sessionId = `ses_${crypto.randomUUID()}`
  const { sink, signals } = storing()
  const agent = await launchAgent(manifest, optionsOf(sessionId, on, sink))
  onTestFinished(async () => {
    for (const { pid } of findMarkedProcesses(agent.process?.marker ?? '')) process.kill(pid, 'SIGKILL')
  })
  return { sessionId, agent, signals }
}

/** A later host, with the agent of one session. */
async function adopted(
  { sessionId, agent, signals: before }: Member,
  on: AgentHost,
): Promise<{ readonly agent: AdoptedAgent; readonly signals: AgentSignal[] }> {
  const { sink, signals } = storing(before)
  const { process } = agent
  const next = await adoptAgent(manifest, { ...optionsOf(sessionId, on, sink), ...(process && { process }) })
  if (!next) throw new Error('nothing is kept')
  return { agent: next, signals }
}

const begin = (on: AgentHost): Promise<void> => on.sharedProcesses?.begin() ?? Promise.resolve()

const say = (text: string) => [{ type: 'text' as const, text }]
const textOf = (signals: readonly AgentSignal[]): string =>
  signals.flatMap((each) => (each.type === 'text-delta' ? [each.text] : [])).join('')

test('16.3 sessions that share a process are kept; a later host goes on with each, and a new session joins them', async () => {
  const keeper = new MemoryKeeper()
  const first = onKeeper(keeper)
  const [a, b] = [await started(first), await started(first)]
  expect([a.agent.kept, b.agent.kept, a.agent.warnings]).toEqual([true, true, []])
  await a.agent.send(say('eins'))
  void b.agent.send(say('hang'))
  await expect.poll(() => textOf(a.signals)).toBe('eins')

  const second = onKeeper(keeper)
  const [nextA, nextB] = [await adopted(a, second), await adopted(b, second)]
  expect([nextA.agent.process, nextB.agent.process]).toEqual([a.agent.process, b.agent.process])
  expect(nextA.agent.begin()).toBeUndefined()
  const running = nextB.agent.begin()
  expect(running?.cancelling).toBe(false)
  await begin(second)
  await nextA.agent.caughtUp
  await nextA.agent.send(say('recall'))
  expect(textOf(nextA.signals)).toBe('eins')
  await nextB.agent.cancel()
  await running?.done
  expect(nextB.signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'cancelled' })
  const joined = await started(second)
  expect(joined.agent.process).toEqual(a.agent.process)
  await nextA.agent.stop()
  await nextB.agent.stop()
  expect(ended(a.agent)).toBe(false)
  await joined.agent.stop()
  expect(ended(a.agent)).toBe(true)
  expect(await keeper.adopt(a.agent.process?.marker ?? '')).toBeUndefined()
})

test('16.3 a shared process that no session goes on with is ended; garbage in its facts leaves it as it is', async () => {
  const keeper = new MemoryKeeper()
  const { agent, sessionId, signals } = await started(onKeeper(keeper))
  const marker = agent.process?.marker ?? ''
  const controller = await keeper.adopt(marker)
  if (!controller) throw new Error('nothing is kept')
  const { facts, kept } = controller
  const first = { stdin: kept.stdin.first, stdout: kept.stdout.first, stderr: kept.stderr.first }
  for (const broken of ['', 'garbage', '{"version":1,"shared":{}}', facts.replaceAll('"acp"', '"mcp"')]) {
    await (await keeper.adopt(marker))?.acknowledge(first, broken, false)
    await expect(adopted({ agent, sessionId, signals }, onKeeper(keeper))).rejects.toMatchObject({
      code: 'not_adoptable',
    })
  }
  await (await keeper.adopt(marker))?.acknowledge(first, facts, false)
  const stranger = { agent, sessionId: 'ses_stranger', signals }
  const second = onKeeper(keeper)
  await expect(adopted(stranger, second)).rejects.toMatchObject({ code: 'not_adoptable' })
  expect(await second.sharedProcesses?.holds(marker)).toBe(false)
  expect(ended(agent)).toBe(false)
  await begin(second)
  expect(ended(agent)).toBe(true)
  const third = onKeeper(keeper)
  await expect(adopted({ agent, sessionId, signals }, third)).rejects.toThrow('nothing is kept')
})
