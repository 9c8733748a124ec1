/** Which changes are shown: all since the session's start, those since the person's last review, or those of one turn. */
export type Span = 'all' | 'review' | number

/** What a span is in a query of the gateway. */
export function queryOf(span: Span): { readonly from?: string; readonly turn?: number } {
  if (span === 'review') return { from: 'reviewed' }
  return span === 'all' ? {} : { turn: span }
}

/** The span that a choice names; everything for an unknown one. */
export function spanOf(choice: string): Span {
  if (choice === 'review') return choice
  return /^[1-9]\d*$/.test(choice) ? Number(choice) : 'all'
}

/** The newest turns, newest first: a list of choices has no room for thousands. */
export const newestTurns = (turnCount: number): readonly number[] =>
  Array.from({ length: Math.min(turnCount, CHOICES) }, (_, index) => turnCount - index)

const CHOICES = 200
