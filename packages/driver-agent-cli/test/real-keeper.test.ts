import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { AgentAnswer } from '@agentproto/contracts'
import type { AdoptedAgent, AgentSignal, AgentSink } from '@agentproto/contracts/agent'
import { adoptAgent, launchAgent, type LaunchOptions } from '@agentproto/driver-agent-cli'
import { expect, onTestFinished, test } from 'vitest'
import { type HomeKeeper, type KeeperOptions, openKeeper } from '../../keeper/src/index.ts'
import { launchOptions, prepare, type Prepared } from './guarded-launch.ts'

const ALLOW: AgentAnswer = { outcome: 'selected', optionId: 'ok' }

/** The keeper of a home that ends with the test. */
async function keeperOf(folder: string, bounds: KeeperOptions['bounds'] = {}): Promise<HomeKeeper> {
  const keeper = await openKeeper({ folder, orphanMs: 60_000, bounds })
  onTestFinished(() => keeper.close())
  return keeper
}

function storing() {
  const signals: AgentSignal[] = []
  const asked: ((answer: AgentAnswer) => void)[] = []
  const sink: AgentSink = {
    emit: async (batch) => void signals.push(...batch),
    ask: () => new Promise((resolve) => asked.push(resolve)),
    mark: () => signals.length,
  }
  return { sink, signals, asked }
}

const launching = (on: Prepared, keeper: HomeKeeper, sink: AgentSink): LaunchOptions =>
  launchOptions(on, { sink, sessionId: `s-${process.pid}`, host: { ...on.host, keeper } })

async function adopted(...adopting: Parameters<typeof adoptAgent>): Promise<AdoptedAgent> {
  const agent = await adoptAgent(...adopting)
  if (!agent) throw new Error('nothing is kept')
  return agent
}

test('16.a5 with the keeper itself: a prompt of 10 MB, and hosts that leave in the middle of two turns', async () => {
  const home = mkdtempSync(`${tmpdir()}/driver-keeper-`)
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const on = await prepare()
  const { manifest } = on.adapter
  const first = storing()
  const firstKeeper = await keeperOf(`${home}/keeper`)
  const agent = await launchAgent(manifest, launching(on, firstKeeper, first.sink))
  expect([agent.kept, agent.warnings]).toEqual([true, []])
  void agent.send([
    { type: 'text', text: 'ask' },
    { type: 'text', text: 'x'.repeat(10 << 20) },
  ])
  await expect.poll(() => first.asked.length).toBe(1)
  firstKeeper.close()
  const secondKeeper = await keeperOf(`${home}/keeper`)
  const second = storing()
  const next = await adopted(manifest, launching(on, secondKeeper, second.sink))
  expect(next.process).toEqual(agent.process)
  const turn = next.begin()
  await expect.poll(() => second.asked.length).toBe(1)
  second.asked[0]?.(ALLOW)
  await turn?.done
  expect(second.signals.at(-1)).toEqual({ type: 'turn-end', reason: 'end_turn' })
  void next.send([{ type: 'text', text: 'ask' }])
  await expect.poll(() => second.asked.length).toBe(2)
  // The first turn is forgotten.
  expect(await secondKeeper.list()).toMatchObject([
    { isBusy: true, keptBytes: expect.toSatisfy((bytes) => bytes < 10_000) },
  ])
  second.asked[1]?.(ALLOW)
  await expect.poll(() => secondKeeper.list()).toMatchObject([{ isBusy: false }])
  secondKeeper.close()
  const third = storing()
  const thirdKeeper = await keeperOf(`${home}/keeper`)
  const last = await adopted(manifest, launching(on, thirdKeeper, third.sink))
  expect(last.begin()).toBeUndefined()
  await last.caughtUp
  expect(third.signals).toEqual([])
  await last.stop()
  expect(await thirdKeeper.list()).toEqual([])
})

test('16.1 a turn that is longer than what is kept: the agent goes on, and until its end it cannot be adopted', async () => {
  const home = mkdtempSync(`${tmpdir()}/driver-keeper-`)
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const on = await prepare()
  const { manifest } = on.adapter
  const first = storing()
  const firstKeeper = await keeperOf(`${home}/keeper`, { memoryBytes: 64 << 10, fileBytes: 64 << 10 })
  const agent = await launchAgent(manifest, launching(on, firstKeeper, first.sink))
  await agent.send([{ type: 'text', text: 'stream' }])
  expect(textOf(first.signals)).toBe(STREAMED)
  const notices = first.signals.flatMap((signal) => (signal.type === 'notice' ? [signal.text] : []))
  expect(notices).toEqual([
    'Until the end of this turn, the agent ends with its gateway: it wrote more than is kept of one turn.',
  ])
  await expect.poll(() => firstKeeper.list()).toMatchObject([{ isBusy: false }])
  firstKeeper.close()

  const secondKeeper = await keeperOf(`${home}/keeper`)
  const second = storing()
  const next = await adopted(manifest, launching(on, secondKeeper, second.sink))
  expect(next.begin()).toBeUndefined()
  await next.caughtUp
  // It floods again, and this host leaves before it has read that.
  void next.send([{ type: 'text', text: 'stream' }])
  secondKeeper.close()
  const thirdKeeper = await keeperOf(`${home}/keeper`)
  await expect.poll(async () => (await thirdKeeper.list())[0]?.stalled).toBe('full')
  const third = storing()
  const last = await adopted(manifest, launching(on, thirdKeeper, third.sink))
  await last.begin()?.done
  expect(textOf(third.signals)).toBe(STREAMED)
  await last.stop()
  expect(await thirdKeeper.list()).toEqual([])
})

/** What the agent says when it streams. */
const STREAMED = Array.from({ length: 5000 }, (_, at) => `${at} `).join('')

const textOf = (signals: readonly AgentSignal[]): string =>
  signals.map((signal) => (signal.type === 'text-delta' ? signal.text : '')).join('')

test('17.6 an agent that must end with its host is not kept, and says why', async () => {
  const home = mkdtempSync(`${tmpdir()}/driver-keeper-`)
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const on = await prepare()
  const keeper = await keeperOf(`${home}/keeper`)
  const endsWithHost = 'another host continues its session'
  const agent = await launchAgent(on.adapter.manifest, { ...launching(on, keeper, storing().sink), endsWithHost })
  expect([agent.kept, agent.warnings]).toEqual([false, [`The agent ends with its gateway: ${endsWithHost}.`]])
  expect(await keeper.list()).toEqual([])
  await agent.stop()
})
