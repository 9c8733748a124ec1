import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { AgentKeeper, ArmConnectOptions, Launch, ProtocolArm } from '@agentproto/contracts/agent'

type Handshake = 'silent' | 'dies-at-once' | 'dies-in-handshake' | 'refuses' | 'wrong-version' | 'half-open' | 'orphan'

/** How a fixture agent begins; `missing`: there is nothing to launch. */
export type StartName = 'well' | 'missing' | 'noisy' | 'stderr-flood' | Handshake

type Speaking = 'echo' | 'remember' | 'empty' | 'think' | 'env' | 'place' | 'garbage' | 'utf8' | 'unknown' | 'asks'
type Flooding = 'stream' | 'huge' | 'stderr'
type Failing = 'fails' | 'dies' | 'leaves' | 'killed'
type Untimely = 'late' | 'after-end' | 'twice'
type UsingTools = 'tool' | 'tool-open' | 'tool-only-result' | 'tool-twice'
type Asking = 'ask' | 'ask-dies'
type Resisting = 'hang' | 'obeys' | 'deaf' | 'stubborn' | 'orphans' | 'no-stdin' | 'no-stdout'

/** What a prompt begins with, and the agent's turn is then like. */
export type TurnName = Speaking | Flooding | Failing | Untimely | UsingTools | Asking | Resisting

/** An arm, or an adapter under its arm, with an agent to test it on. */
export interface ArmSubject {
  readonly arm: ProtocolArm
  /** How an agent is started that begins in the given way. */
  readonly start: (how: StartName) => Pick<ArmConnectOptions, 'launch' | 'profile'>
  /** Starts and turns that this protocol has no way to show; their tests are skipped, by name. */
  readonly cannot?: readonly (StartName | TurnName)[]
  /** A new keeper, for an arm that goes on with the agents of an earlier host. */
  readonly keeper?: () => AgentKeeper
  /** Each turn has a process of its own, whose end is the turn's and not the agent's. */
  readonly processPerTurn?: boolean
  /**
   * Whether an agent that ignores a cancel is waited for, until its host ends it (as ACP wants it), or the
   * turn is ended without it. Default `ended`.
   */
  readonly deafTurn?: 'ended' | 'waits'
}

/** Path of the fixture agent: `node PATH DIALECT START`. */
export const fixtureAgentPath: string = fileURLToPath(new URL('../fixtures/agent.mjs', import.meta.url))

let launches = 0

/**
 * A launch of the fixture agent.
 * @param dialect `acp`, `mcp`, or `plain` for an adapter of a test
 */
export const fixtureLaunch = (dialect: 'acp' | 'mcp' | 'plain', how: StartName): Launch =>
  launchOf([fixtureAgentPath, dialect, how])

/** A launch of a Node program, with an environment of its own and nothing else in it. */
export function launchOf(args: readonly string[], env: Readonly<Record<string, string>> = {}): Launch {
  const marker = `arm-testing-${process.pid}-${Date.now().toString(36)}-${launches++}`
  return {
    command: process.execPath,
    args,
    cwd: tmpdir(),
    env: { PATH: process.env['PATH'] ?? '', FIXTURE: 'given', ...env, AGENTPROTO_SESSION_ID: marker },
    marker,
  }
}
