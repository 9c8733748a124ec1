import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

/**
 * Writes the files whose tests failed, one on a line, so that `tooling/test-twice.sh` can run them again alone. A failure
 * that belongs to no file (an error outside of all tests, a process left behind) leaves the list empty: the run stays failed.
 */
export class FailedFilesReporter implements Reporter {
  readonly #path: string
  readonly #stuck: ReadonlySet<string>

  /** @param stuck files whose process was killed; vitest reports each as an error outside of all tests */
  constructor(path: string, stuck: ReadonlySet<string>) {
    this.#path = path
    this.#stuck = stuck
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const failed = modules.filter((module) => module.state() === 'failed').map((module) => module.relativeModuleId)
    const files = [...new Set([...failed, ...this.#stuck])]
    writeFileSync(
      this.#path,
      unhandledErrors.length > this.#stuck.size ? '' : files.map((file) => `${file}\n`).join(''),
    )
  }
}
