type Fields = Readonly<Record<string, unknown>>

/** How a version of the wire differs from the newest (docs/keeper.md); `hello` is the same in all. */
export interface Dialect {
  /** A request of the newest version in the words of this one. */
  readonly request: (request: Fields) => Fields
  /** An answer or a push of this version in the words of the newest. */
  readonly frame: (frame: Fields) => Fields
}

/** By the version. */
export type Dialects = Readonly<Record<number, Dialect>>

export const NEWEST: Dialect = { request: (request) => request, frame: (frame) => frame }

/** The versions that this client speaks. One is removed only when no keeper of it can be left: they live as long as their agents. */
export const DIALECTS: Dialects = { 1: NEWEST }

export const versionsOf = (dialects: Dialects): readonly number[] => Object.keys(dialects).map(Number)
