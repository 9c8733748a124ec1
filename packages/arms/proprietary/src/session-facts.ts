import { notAdoptable } from '@agentproto/arm-kit'
import { type AgentInfo, asNumber, asRecord, asString, defined, isRecord, type Json } from '@agentproto/contracts'

/** A turn whose process was about to be started. */
export interface TurnFacts {
  readonly id: string
  readonly isCancelled: boolean
}

/** What a later host needs to go on with a session. It has no secrets. */
export interface SessionFacts {
  readonly command: string
  readonly args: readonly string[]
  readonly agent: Pick<AgentInfo, 'name' | 'version'>
  readonly warnings: readonly string[]
  /** What the adapter needs. */
  readonly own: Json
  /** How many processes were started for it, with the one that is about to be started. */
  readonly runs: number
  /** Absent where no turn runs. */
  readonly turn?: TurnFacts | undefined
}

/** @throws `not_adoptable` */
export function readSessionFacts(facts: Json): SessionFacts {
  const { command, args, agent, warnings, own, runs, turn } = facts
  const started = asNumber(runs)
  const isWhole =
    typeof command === 'string' && isTexts(args) && isTexts(warnings) && isRecord(own) && started !== undefined
  if (!isWhole) throw notAdoptable('What is stored of its session cannot be read')
  const { name, version } = asRecord(agent)
  return {
    command,
    args,
    agent: defined({ name: asString(name), version: asString(version) }),
    warnings,
    own,
    runs: started,
    ...defined({ turn: readTurn(turn) }),
  }
}

function readTurn(turn: unknown): TurnFacts | undefined {
  if (turn === undefined) return undefined
  const { id, isCancelled } = asRecord(turn)
  if (typeof id !== 'string' || typeof isCancelled !== 'boolean')
    throw notAdoptable('What is stored of its turn cannot be read')
  return { id, isCancelled }
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((text) => typeof text === 'string')
