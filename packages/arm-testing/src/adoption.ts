import { systemClock } from '@agentproto/contracts'
import {
  type AdoptedSession,
  type AgentKeeper,
  type AgentProcessInfo,
  type AgentSignal,
  type ArmConnection,
  DEFAULT_ARM_LIMITS,
} from '@agentproto/contracts/agent'
import { expect, onTestFinished } from 'vitest'
import { endOf, textOf } from './cases/turn-signals.js'
import { open, type Opened, testOf } from './opened.js'
import { RecordingSink } from './recording-sink.js'
import type { ArmSubject, TurnName } from './subject.js'

const KEY = 'kept'

/** An agent that goes on with the next host; only of an arm that its subject has a keeper for. */
export function testAdoption(subject: ArmSubject): void {
  const { keeper: create } = subject
  if (!create) return
  const on: OnKept = (how, title, run) =>
    testOf(subject, how)(title, async () => run(await openKept(subject, create())))
  testConversations(on)
  testPermissions(on)
  testRefusals(on)
}

/** Registers a test with an agent that a keeper holds. */
type OnKept = (how: TurnName, title: string, run: (kept: Kept) => Promise<void>) => void

function testConversations(on: OnKept): void {
  on('echo', 'an idle agent goes on with the next host in the same conversation', async ({ first, adopt }) => {
    await first.turn('echo', 'one')
    const next = await adopt()
    expect(next.process).toEqual(first.connection.process)
    const known = first.sink.signals.slice(0, next.session.mark)
    // The last turn is emitted again where its end is not acknowledged yet.
    await next.session.begin()?.done
    await next.session.caughtUp
    expect([...known, ...next.sink.signals]).toEqual(first.sink.signals)
    expect(next.session.agentSessionId).toBe(first.session.agentSessionId)
    expect(textOf(await next.turn('remember'))).toBe('echo one|remember')
  })

  on('hang', 'a turn that runs is emitted again from its prompt, and can be cancelled', async ({ first, adopt }) => {
    const mark = first.sink.signals.length
    await first.begin('hang')
    const next = await adopt()
    expect(next.session.mark).toBe(mark)
    const running = next.session.begin()
    expect(running?.cancelling).toBe(false)
    await next.session.caughtUp
    expect(next.sink.signals).toEqual(first.sink.signals.slice(mark, mark + next.sink.signals.length))
    expect(next.sink.text).toBe('working')
    await next.session.cancel()
    await running?.done
    expect(endOf(next.sink.signals)).toMatchObject({ reason: 'cancelled' })
  })

  on('hang', 'a turn that its host has cancelled is cancelled, once', async ({ first, adopt }) => {
    await first.begin('hang')
    void first.session.cancel()
    const next = await adopt()
    const running = next.session.begin()
    expect(running?.cancelling).toBe(true)
    await running?.done
    await next.session.caughtUp
    expect(endOf(next.sink.signals)).toMatchObject({ reason: 'cancelled' })
    expect(textOf(await next.turn('echo', 'next'))).toBe('echo next')
  })
}

function testPermissions(on: OnKept): void {
  on('ask', 'a permission that waits is asked again, and the agent gets one answer', async ({ first, adopt }) => {
    void first.session.send([{ type: 'text', text: 'ask' }])
    await first.sink.until(() => first.sink.asked.length === 1)
    const next = await adopt()
    next.sink.onAsk = async () => ({ outcome: 'selected', optionId: optionsOf(first)[0] ?? '' })
    await next.session.begin()?.done
    expect(next.sink.asked.map(({ request }) => request)).toEqual(first.sink.asked.map(({ request }) => request))
    expect(textOf(next.sink.signals)).toBe('answer yes')
    expect(endOf(next.sink.signals)).toMatchObject({ reason: 'end_turn' })
  })

  on('ask', 'a permission that was answered is not asked again', async ({ first, adopt }) => {
    // The answer is the last that the first host does.
    first.sink.onAsk = async () => ({ outcome: 'selected', optionId: optionsOf(first)[0] ?? '' })
    first.sink.onBatch = (batch) => (saysAnswer(batch) ? new Promise(() => {}) : undefined)
    void first.session.send([{ type: 'text', text: 'ask' }])
    await first.sink.until(() => /answer/.test(first.sink.text))
    const next = await adopt()
    await next.session.begin()?.done
    expect(next.sink.asked).toEqual([])
    expect(next.sink.answers).toEqual(first.sink.asked.map(({ request }) => request))
    expect(textOf(next.sink.signals)).toBe('answer yes')
  })
}

function testRefusals(on: OnKept): void {
  on(
    'echo',
    'facts that cannot be read are refused, and the agent is left as it is',
    async ({ first, adopt, keeper }) => {
      for (const facts of ['', 'garbage', '{"version":1,"mark":0,"host":{},"arm":{"protocol":"none"}}']) {
        const agent = await keeper.adopt(KEY)
        if (!agent) throw new Error('nothing is kept')
        const { stdin, stdout, stderr } = agent.kept
        await agent.acknowledge({ stdin: stdin.first, stdout: stdout.first, stderr: stderr.first }, facts, false)
        await expect(adopt(), facts).rejects.toMatchObject({ code: 'not_adoptable' })
      }
      const agent = await keeper.adopt(KEY)
      expect(agent?.process).toEqual(first.connection.process)
      agent?.endInput()
      await agent?.exit
    },
  )
}

interface Kept {
  readonly keeper: AgentKeeper
  readonly first: Opened
  /** The next host; the one before has lost the agent. */
  readonly adopt: () => Promise<Adopted>
}

interface Adopted {
  readonly connection: ArmConnection
  readonly process: AgentProcessInfo | undefined
  readonly session: AdoptedSession
  readonly sink: RecordingSink
  /** Sends a prompt and gives what came of it. */
  turn(how: TurnName, rest?: string): Promise<readonly AgentSignal[]>
}

async function openKept(subject: ArmSubject, keeper: AgentKeeper): Promise<Kept> {
  const first = await open(subject, { keep: { keeper, key: KEY } })
  return { keeper, first, adopt: () => goOn(subject, keeper, first) }
}

async function goOn({ arm, start }: ArmSubject, keeper: AgentKeeper, { launch }: Opened): Promise<Adopted> {
  const agent = await keeper.adopt(KEY)
  if (!agent || !arm.adopt) throw new Error('nothing is kept, or the arm adopts nothing')
  const sink = new RecordingSink()
  const { launch: _, ...rest } = start('well')
  const { connection, session } = await arm.adopt(
    {
      ...rest,
      agent,
      launch,
      limits: { ...DEFAULT_ARM_LIMITS, stdinGraceMs: 300, termGraceMs: 300 },
      clock: systemClock,
      signal: new AbortController().signal,
      client: { name: 'arm-testing', version: '0' },
    },
    sink,
  )
  onTestFinished(async () => void (await connection.close()))
  const turn = async (how: TurnName, more = ''): Promise<readonly AgentSignal[]> => {
    const from = sink.signals.length
    await session.send([{ type: 'text', text: `${how} ${more}`.trim() }])
    return sink.signals.slice(from)
  }
  return { connection, process: connection.process, session, sink, turn }
}

const optionsOf = ({ sink: { asked } }: Opened): readonly string[] =>
  asked.flatMap(({ request }) => (request.kind === 'permission' ? request.options.map(({ optionId }) => optionId) : []))

const saysAnswer = (batch: readonly AgentSignal[]): boolean =>
  batch.some((signal) => signal.type === 'text-delta' && signal.text.startsWith('answer'))
