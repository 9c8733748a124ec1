import { AgentprotoError, defined, type Session } from '@agentproto/contracts'
import { type Checkpoint, type FolderChanges, NOW } from '@agentproto/contracts/agent'
import type { ChangesQuery, ComparedState, StateName } from '@agentproto/contracts/wire'
import { LABELS, reviewsOf } from './checkpoint-names.js'

/** The recorded states of one session's folder, by the names that callers give them. */

export interface States {
  readonly session: Session
  /** Of the session itself, the oldest first. */
  readonly checkpoints: readonly Checkpoint[]
  readonly reviews: readonly Checkpoint[]
  /** Milliseconds since the epoch. */
  readonly now: number
}

export async function statesOf(folder: FolderChanges, session: Session, now: number): Promise<States> {
  const all = await folder.list()
  return {
    session,
    checkpoints: all.filter((each) => each.session === session.id),
    reviews: all.filter((each) => each.session === reviewsOf(session.id)),
    now,
  }
}

export interface Comparison {
  readonly from: ComparedState
  readonly to: ComparedState
}

/** The two states that a query names. @throws `checkpoint_not_found`, `invalid_request` */
export function comparisonOf(states: States, { from, to, turn }: ChangesQuery): Comparison {
  if (turn === undefined) return { from: stateNamed(states, from ?? 'start'), to: stateNamed(states, to ?? NOW) }
  if (from !== undefined || to !== undefined)
    throw new AgentprotoError('invalid_request', 'The parameter turn stands for from and to', {
      expected: 'one of them',
    })
  return ofTurn(states, turn)
}

/** @throws `checkpoint_not_found` */
export function stateNamed(states: States, name: StateName): ComparedState {
  const { checkpoints, reviews, session, now } = states
  if (name === NOW) return { at: new Date(now).toISOString() }
  if (name === 'start') return startOf(states)
  if (name === 'reviewed') return reviewedOf(states)
  const number = typeof name === 'number' ? name : TURN.test(name) ? Number(name) : undefined
  if (number !== undefined)
    return number === 0 ? startOf(states) : recorded(ofNumber(checkpoints, number), session, name)
  return recorded(
    [...checkpoints, ...reviews].find(({ id }) => id === name),
    session,
    name,
  )
}

const TURN = /^\d{1,9}$/

/** What one turn changed: from the last state that was recorded before it, also a rewind's. */
function ofTurn({ checkpoints, session }: States, turn: number): Comparison {
  const to = ofNumber(checkpoints, turn)
  const found = recorded(to, session, turn)
  const before = to === undefined ? undefined : checkpoints[checkpoints.indexOf(to) - 1]
  return { from: recorded(before, session, `the state before turn ${turn}`), to: found }
}

const ofNumber = (checkpoints: readonly Checkpoint[], turn: number): Checkpoint | undefined =>
  checkpoints.findLast((each) => each.turn === turn && each.label === LABELS.turn)

function startOf({ checkpoints, session }: States): ComparedState {
  return recorded(checkpoints[0], session, 'start')
}

function reviewedOf(states: States): ComparedState {
  const { reviewed } = states.session
  return reviewed === undefined ? startOf(states) : stateNamed(states, reviewed.checkpoint)
}

function recorded(checkpoint: Checkpoint | undefined, session: Session, given: StateName): ComparedState {
  if (checkpoint !== undefined)
    return { checkpoint: checkpoint.id, at: checkpoint.at, ...defined({ turn: checkpoint.turn }) }
  throw new AgentprotoError('checkpoint_not_found', 'The session has no such checkpoint', {
    expected: `start, reviewed, or one of ${session.turnCount} turns`,
    given,
    hint: 'Its events of the type checkpoint-skipped say why one is missing; old ones are deleted',
  })
}
