import { type AgentprotoError, isAgentprotoError, systemClock } from '@agentproto/contracts'
import {
  type AgentSignal,
  type ArmConnection,
  type ArmConnectOptions,
  type ArmLimits,
  type ArmSession,
  DEFAULT_ARM_LIMITS,
  type Launch,
} from '@agentproto/contracts/agent'
import { expect, onTestFinished, test } from 'vitest'
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
  /** Sends a prompt, waits until the agent has said something of it, and gives the end of its turn. */
  begin(how: TurnName, said?: RegExp): Promise<{ readonly ended: Promise<void> }>
}

export interface Start extends Pick<ArmConnectOptions, 'keep'> {
  readonly how?: StartName
  readonly limits?: Partial<ArmLimits>
  readonly signal?: AbortSignal
  readonly launch?: Partial<Launch>
}

/** Registers a test of a behaviour; it is skipped where the protocol has no way to show it. All can start `well`. */
export const testOf = (subject: ArmSubject, how: StartName | TurnName): typeof test =>
  how !== 'well' && subject.cannot?.includes(how) ? (test.skip as typeof test) : test

/** Registers a test of a turn, with an open session of its own. */
export type OnTurn = (how: TurnName | 'well', title: string, run: (opened: Opened) => Promise<void>) => void

export const turnsOf =
  (subject: ArmSubject): OnTurn =>
  (how, title, run) =>
    testOf(subject, how)(title, async () => run(await open(subject)))

/** Connects, without a session. */
export async function connect(
  subject: ArmSubject,
  start: Start = {},
): Promise<{ connection: ArmConnection; launch: Launch }> {
  const { launch: usual, ...rest } = subject.start(start.how ?? 'well')
  const launch = { ...usual, ...start.launch }
  onTestFinished(() => expect(leftovers(launch.marker), 'nothing of the agent lives').toEqual([]))
  const connection = await subject.arm.connect({
    ...rest,
    ...(start.keep && { keep: start.keep }),
    launch,
    limits: { ...LIMITS, ...start.limits },
    clock: systemClock,
    signal: start.signal ?? new AbortController().signal,
    client: { name: 'arm-testing', version: '0' },
  })
  onTestFinished(async () => void (await connection.close()))
  return { connection, launch }
}

/** Connects and opens a session. */
export async function open(subject: ArmSubject, start: Start = {}): Promise<Opened> {
  const { connection, launch } = await connect(subject, start)
  const sink = new RecordingSink()
  const opening = { cwd: launch.cwd, additionalDirectories: [], mcpServers: [], origin: { how: 'new' as const } }
  const session = await connection.openSession(opening, sink)
  const turn = async (how: TurnName, rest = ''): Promise<readonly AgentSignal[]> => {
    const from = sink.signals.length
    await session.send([{ type: 'text', text: `${how} ${rest}`.trim() }])
    return sink.signals.slice(from)
  }
  const begin = async (how: TurnName, said = /working/): Promise<{ readonly ended: Promise<void> }> => {
    const from = sink.text.length
    const ended = session.send([{ type: 'text', text: how }])
    await sink.until(() => said.test(sink.text.slice(from)))
    return { ended }
  }
  return { connection, session, sink, launch, turn, begin }
}

/**
 * What went wrong with a start, agent and all gone: connecting, or opening a session.
 * @throws when nothing went wrong
 */
export async function startFailure(subject: ArmSubject, start: Start): Promise<AgentprotoError> {
  try {
    await open(subject, start)
  } catch (thrown) {
    if (isAgentprotoError(thrown)) return thrown
    throw thrown
  }
  throw new Error('the start did not fail')
}

/** Milliseconds that it takes. */
export async function timed(work: Promise<unknown>): Promise<number> {
  const from = performance.now()
  await work
  return performance.now() - from
}
