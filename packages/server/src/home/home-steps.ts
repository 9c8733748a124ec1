import type { HomeFiles } from './home-files.js'

/**
 * One step of a home, from a format to the next. It says what to change and changes nothing itself: copies, the order of writes
 * and what a crash leaves are those of `upgrade-home.ts`.
 */
export interface HomeStep {
  /** What it does, for people; a noun phrase. */
  readonly what: string
  /**
   * The files that differ in the new format. A file that is in the new format already is left out: a command may have written
   * it in a new home before the first gateway.
   */
  readonly changes: (files: HomeFiles) => Iterable<FileChange>
}

/** The new content of a file, or its end. */
export interface FileChange {
  /** Below the home, with `/`. */
  readonly path: string
  /** Undefined: the file is deleted. */
  readonly content: string | undefined
}

/** The step at index n leads from format n to n + 1. A step that was released never changes. */
export const HOME_STEPS: readonly HomeStep[] = [
  // All homes before home.json. Their files have not changed since.
  { what: 'the home gets a format', changes: () => [] },
]

/** The format that this agentproto reads and writes. */
export const HOME_FORMAT = HOME_STEPS.length
