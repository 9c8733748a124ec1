/** What becomes of the sessions of this host. */
export interface ClaimEvents {
  /**
   * A session of this host is another host's now, or was deleted in the fleet when `owner` is absent. Its agent must end,
   * and nothing more of it may be written.
   */
  readonly onFenced: (id: string, owner: string | undefined) => void
  /**
   * The lease of this host is lost. These sessions may be taken by other hosts soon: their agents must end before, within
   * `LeaseTimes.abandonedMs` less `LeaseTimes.heldMs`.
   */
  readonly onSuspended: (ids: readonly string[]) => void
  /** The lease is back, and every session that may move was read again: it is this host's own, or was fenced. */
  readonly onReleased: () => void
  readonly onProblem: (problem: string) => void
}
