import { AgentprotoError, type SessionStatus } from '@agentproto/contracts'

/** The status machine of AIP-46 as data; `docs/lifecycle.md` is checked against it. */

export interface Transition {
  readonly from: SessionStatus
  readonly to: SessionStatus
  readonly on: string
}

export const TRANSITIONS: readonly Transition[] = [
  { from: 'starting', to: 'running', on: 'the handshake and the session open are done' },
  { from: 'starting', to: 'error', on: 'the spawn, the handshake or the open failed, or the start was cancelled' },
  { from: 'running', to: 'exited', on: 'the agent ended by itself between turns' },
  { from: 'running', to: 'killed', on: 'kill, delete or shutdown, after the process tree is verified gone' },
  {
    from: 'running',
    to: 'error',
    on: 'the transport or the protocol broke, or the agent ended in the middle of a turn',
  },
  { from: 'exited', to: 'starting', on: 'resume, asked for or by the next prompt' },
  { from: 'killed', to: 'starting', on: 'resume, asked for or by the next prompt' },
  { from: 'error', to: 'starting', on: 'resume, asked for or by the next prompt' },
]

/** @throws `internal` for a step that the table does not have: a bug, never input */
export function assertTransition(from: SessionStatus, to: SessionStatus): void {
  if (TRANSITIONS.some((step) => step.from === from && step.to === to)) return
  throw new AgentprotoError('internal', `A session cannot go from ${from} to ${to}`)
}
