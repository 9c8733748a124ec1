/** The prompts of a session, as the arrow keys go through them. `at`: undefined while a new one is written. */
export interface HistoryPosition {
  readonly at: number | undefined
  readonly text: string
}

/** The prompt before or after the one that is shown; undefined where there is none. After the last one is an empty box. */
export function historyStep(
  prompts: readonly string[],
  { at }: Pick<HistoryPosition, 'at'>,
  step: -1 | 1,
): HistoryPosition | undefined {
  const next = (at ?? prompts.length) + step
  if (next === prompts.length && at !== undefined) return { at: undefined, text: '' }
  const text = prompts[next]
  return text === undefined ? undefined : { at: next, text }
}
