import type { TestOptions } from 'vitest'
import { findProgram } from './programs.mjs'

declare module 'vitest' {
  interface TaskMeta {
    /** Programs that this test needs and that were not found, so that it is skipped. */
    missing?: readonly string[]
  }
}

/**
 * Options of a test that needs programs beside Node: it is skipped where one is missing, and the summary at the end of
 * the run says which, and which package brings it. `linux` stands for the platform.
 *
 * @example test('zsh completes', needs('zsh'), () => …)
 * @param names Names in the table of programs.mjs
 */
export function needs(...names: readonly string[]): TestOptions {
  const missing = names.filter((name) => findProgram(name) === undefined)
  return missing.length === 0 ? {} : { skip: true, meta: { missing } }
}
