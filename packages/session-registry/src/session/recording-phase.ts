/** The recording of what is in the session's folder. */
export type Recording =
  /** The host records nothing. */
  | { readonly phase: 'off' | 'idle' }
  /** After this turn; 0 before the agent is started. */
  | { readonly phase: 'running'; readonly turn: number }
  /** The log says nothing about it: the host that should have recorded it is gone. */
  | { readonly phase: 'missing'; readonly turn: number }

/**
 * That of a stored session.
 * @param turn the one whose recording had not ended
 * @param records whether this host records
 */
export function recordingOf(turn: number | undefined, records: boolean): Recording {
  if (!records) return { phase: 'off' }
  return turn === undefined ? { phase: 'idle' } : { phase: 'missing', turn }
}
