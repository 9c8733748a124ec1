type Fields = Readonly<Record<string, unknown>>

/** How a version of the wire differs from the newest (docs/keeper.md); `hello` is the same in all. */
export interface Dialect {
  /** Whether the keeper ends agents whose gateway does not say in time that they may go on. */
  readonly guards: boolean
  /** A request of the newest version in the words of this one. */
  readonly request: (request: Fields) => Fields
  /** An answer or a push of this version in the words of the newest. */
  readonly frame: (frame: Fields) => Fields
}

/** By the version. */
export type Dialects = Readonly<Record<number, Dialect>>

export const NEWEST: Dialect = { guards: true, request: (request) => request, frame: (frame) => frame }

/** Whether a keeper of this version guards agents. */
export const guardsIn = (wire: number, dialects: Dialects = DIALECTS): boolean => dialects[wire]?.guards === true

/** The versions that this client speaks. One is removed only when no keeper of it can be left: they live as long as their agents. */
export const DIALECTS: Dialects = { 1: { ...NEWEST, guards: false }, 2: NEWEST }

export const versionsOf = (dialects: Dialects): readonly number[] => Object.keys(dialects).map(Number)
