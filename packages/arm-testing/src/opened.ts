import { type AgentprotoError, isAgentprotoError, type StreamEvent, systemClock } from '@agentproto/contracts'
import {
  type AgentSignal,
  type ArmConnection,
  type ArmLimits,
  type ArmSession,
  DEFAULT_ARM_LIMITS,
  type Launch,
} from '@agentproto/contracts/agent'
import { expect, onTestFinished } from 'vitest'
import { leftovers } from './leftovers.js'
import { RecordingSink } from './recording-sink.js'
import type { ArmSubject, StartName, TurnName } from './subject.js'

/** Short, but not for a busy machine: only what is to run out uses less. */
const LIMITS: ArmLimits = {
  ...DEFAULT_ARM_LIMITS,
  handshakeMs: 20_000,
  openMs: 20_000,
  stdinGraceMs: 300,
  termGraceMs: 300,
}

/** A connection that a test has opened; it is closed, and nothing of it lives, when the test ends. */
export interface Opened {
  readonly connection: ArmConnection
  readonly session: ArmSession
  readonly sink: RecordingSink
  readonly launch: Launch
  /** Sends a prompt and gives what came of it, once its turn has ended. */
  turn(how: TurnName, rest?: string): Promise<readonly AgentSignal[]>
}

export interface Begin {
  readonly how?: StartName
  readonly limits?: Partial<ArmLimits>
  readonly signal?: AbortSignal
  readonly launch?: Partial<Launch>
}

/** Connects, without a session. */
export async function connect(
  subject: ArmSubject,
  begin: Begin = {},
): Promise<{ connection: ArmConnection; launch: Launch }> {
  const { launch: usual, ...rest } = subject.start(begin.how ?? 'well')
  const launch = { ...usual, ...begin.launch }
  onTestFinished(() => expect(leftovers(launch.marker), 'nothing of the agent lives').toEqual([]))
  const connection = await subject.arm.connect({
    ...rest,
    launch,
    limits: { ...LIMITS, ...begin.limits },
    clock: systemClock,
    signal: begin.signal ?? new AbortController().signal,
    client: { name: 'arm-testing', version: '0' },
  })
  onTestFinished(async () => void (await connection.close()))
  return { connection, launch }
}

/** Connects and opens a session. */
export async function open(subject: ArmSubject, begin: Begin = {}): Promise<Opened> {
  const { connection, launch } = await connect(subject, begin)
  const sink = new RecordingSink()
  const opening = { cwd: launch.cwd, additionalDirectories: [], mcpServers: [], origin: { how: 'new' as const } }
  const session = await connection.openSession(opening, sink)
  const turn = async (how: TurnName, rest = ''): Promise<readonly AgentSignal[]> => {
    const from = sink.signals.length
    await session.send([{ type: 'text', text: `${how} ${rest}`.trim() }])
    return sink.signals.slice(from)
  }
  return { connection, session, sink, launch, turn }
}

/**
 * What went wrong with a start, agent and all gone: connecting, or opening a session.
 * @throws when nothing went wrong
 */
export async function startFailure(subject: ArmSubject, begin: Begin): Promise<AgentprotoError> {
  try {
    await open(subject, begin)
  } catch (thrown) {
    if (isAgentprotoError(thrown)) return thrown
    throw thrown
  }
  throw new Error('the start did not fail')
}

const STREAM: ReadonlySet<string> = new Set<StreamEvent['type']>([
  'text-delta',
  'thought',
  'tool-call',
  'tool-result',
  'turn-end',
  'error',
])

/** Only what belongs to a turn. */
export const eventsOf = (signals: readonly AgentSignal[]): readonly AgentSignal[] =>
  signals.filter(({ type }) => STREAM.has(type))

/** What the agent said in a turn, joined. */
export const textOf = (signals: readonly AgentSignal[]): string =>
  signals.flatMap((signal) => (signal.type === 'text-delta' ? [signal.text] : [])).join('')

/** The last event of a turn, once it is sure that it is the only end. */
export function endOf(signals: readonly AgentSignal[]): Extract<AgentSignal, { type: 'turn-end' }> {
  const events = eventsOf(signals)
  const ends = events.filter((event) => event.type === 'turn-end')
  const [end] = ends
  expect(ends, 'one turn-end').toHaveLength(1)
  expect(events.at(-1), 'and it is the last event').toBe(end)
  if (!end) throw new Error('no turn-end')
  return end
}

/** Milliseconds that it takes. */
export async function timed(work: Promise<unknown>): Promise<number> {
  const from = performance.now()
  await work
  return performance.now() - from
}
