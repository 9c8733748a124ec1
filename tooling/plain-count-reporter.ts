import type { Reporter, TestModule } from 'vitest/node'

/** Ends a run with its count on a line of its own, `N passed, N failed, N skipped`, for people and for CI alike. */
export class PlainCountReporter implements Reporter {
  #line: string | undefined

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = modules.map(countModule)
    const passed = sum(counts.map((count) => count.passed))
    const failed = sum(counts.map((count) => count.failed)) + unhandledErrors.length
    const skipped = sum(counts.map((count) => count.skipped))
    if (this.#line === undefined) process.once('exit', (code) => this.#print(code))
    this.#line = countLine({ passed, failed, skipped })
  }

  // At exit, so that nothing is printed after it and what the teardown found can still count.
  #print(code: number): void {
    const line = this.#line ?? ''
    process.stdout.write(`\n${code === 0 ? line : line.replace(', 0 failed', ', 1 failed')}\n`)
  }
}

interface Count {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** The line for a count; skipped tests are named only where there are some. */
export function countLine({ passed, failed, skipped }: Count): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

function countModule(module: TestModule): Count {
  const states = [...module.children.allTests()].map((test) => test.result().state)
  const count = (state: string): number => states.filter((each) => each === state).length
  const failed = count('failed')
  // A file that could not be loaded has no tests, and a failing hook fails none: the file itself is the failure then.
  const file = failed === 0 && module.state() === 'failed' ? 1 : 0
  return { passed: count('passed'), failed: failed + file, skipped: count('skipped') + count('pending') }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
