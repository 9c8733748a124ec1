import type { Reporter, TestCase, TestModule } from 'vitest/node'
import { howToGet } from './programs.mjs'

/**
 * Ends a run with what was skipped and why, and with its counts on a last line of its own, for people and for CI alike:
 * `N passed, N failed, N skipped`.
 */
export class PlainCountReporter implements Reporter {
  #summary: readonly string[] = []
  #counts: Counts | undefined

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    if (this.#counts === undefined) process.once('exit', (code) => this.#print(code))
    this.#counts = countTests(modules, tests, unhandledErrors.length)
    this.#summary = skipSummary(tests.filter(isSkipped).map(skippedTest))
  }

  // At exit: nothing is printed after it, and a failure of the teardown is known by then.
  #print(code: number): void {
    if (this.#counts === undefined) return
    const { failed, ...counts } = this.#counts
    const line = countLine({ ...counts, failed: code === 0 ? failed : Math.max(failed, 1) })
    process.stdout.write(`\n${[...this.#summary, line].join('\n')}\n`)
  }
}

export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

export function countLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`
}

export interface SkippedTest {
  /** Its file, relative to the repository. */
  readonly file: string
  /** Programs that it needs and that were not found; none where the test itself says `skip`. */
  readonly missing: readonly string[]
}

/** One line for each missing program: how many tests need it, and what brings it. */
export function skipSummary(skipped: readonly SkippedTest[]): readonly string[] {
  const programs = [...new Set(skipped.flatMap(({ missing }) => missing))].toSorted()
  const lines = programs.map((name) => {
    const count = skipped.filter(({ missing }) => missing.includes(name)).length
    return `  ${name}: ${count} ${count === 1 ? 'test' : 'tests'}; ${howToGet(name)}`
  })
  const marked = skipped.filter(({ missing }) => missing.length === 0).map(({ file }) => file)
  for (const file of new Set(marked)) {
    lines.push(`  ${file}: ${marked.filter((each) => each === file).length}; by the file itself, or by a filter`)
  }
  return lines.length === 0 ? [] : ['Skipped tests:', ...lines]
}

function countTests(modules: readonly TestModule[], tests: readonly TestCase[], unhandled: number): Counts {
  const count = (state: string): number => tests.filter((test) => test.result().state === state).length
  return {
    passed: count('passed'),
    failed: count('failed') + modules.filter(failedAsAWhole).length + unhandled,
    skipped: tests.filter(isSkipped).length,
  }
}

/** A file that cannot be loaded has no tests, and a hook that fails fails none of them: the file counts as one failure. */
function failedAsAWhole(module: TestModule): boolean {
  return module.state() === 'failed' && ![...module.children.allTests('failed')].length
}

function skippedTest(test: TestCase): SkippedTest {
  return { file: test.module.relativeModuleId, missing: test.meta().missing ?? [] }
}

function isSkipped(test: TestCase): boolean {
  return ['skipped', 'pending'].includes(test.result().state)
}
