import type { Reporter, TestCase, TestModule } from 'vitest/node'
import { endProcess, processesMarked } from './process-table.ts'
import type { MarkedProcess } from './process-table.ts'

/** Longer than a test, its hooks and the load of its file may take together. */
const SILENCE_MS = 10 * 60_000

/**
 * Ends test files that can no longer end by themselves. The limit of a test is a timer in the process of the test: it
 * never fires while that process is in an endless loop or waits for a child synchronously, and the run would never end.
 * When no test has begun or ended for a while, the files that still run are stuck: they are named with what was seen
 * last of them (vitest reports a test some moments late), and their processes killed. vitest counts each as an error,
 * and the other files keep their results.
 */
export class StuckFilesReporter implements Reporter {
  /** The files that were ended so, relative to the repository. */
  readonly stuck = new Set<string>()
  readonly #silenceMs: number
  readonly #running = new Map<string, string>()
  #timer: NodeJS.Timeout | undefined

  /** @param silenceMs milliseconds without a sign of any test after which the files that run are stuck */
  constructor(silenceMs = SILENCE_MS) {
    this.#silenceMs = silenceMs
  }

  onTestModuleQueued({ relativeModuleId }: TestModule): void {
    this.#seen(relativeModuleId, 'its load')
  }

  onTestCaseReady({ module, fullName }: TestCase): void {
    this.#seen(module.relativeModuleId, `begin of "${fullName}"`)
  }

  onTestCaseResult({ module, fullName }: TestCase): void {
    this.#seen(module.relativeModuleId, `end of "${fullName}"`)
  }

  onTestModuleEnd({ relativeModuleId }: TestModule): void {
    this.#running.delete(relativeModuleId)
    this.#wait()
  }

  onTestRunEnd(): void {
    this.#running.clear()
    this.#wait()
  }

  #seen(file: string, place: string): void {
    this.#running.set(file, place)
    this.#wait()
  }

  #wait(): void {
    clearTimeout(this.#timer)
    if (this.#running.size > 0) this.#timer = setTimeout(() => this.#end(), this.#silenceMs)
  }

  #end(): void {
    const processes = ofThisRun()
    const files = [...this.#running].map(([file, seen]) => `  ${file}; seen last: ${seen}`)
    const started = processes.filter((found) => !isWorker(found)).map(processLine)
    const title = `No test began or ended for ${this.#silenceMs / 1000} s. Stuck, and killed with what runs of it:`
    process.stderr.write(`\n${[title, ...files, ...started].join('\n')}\n`)
    for (const file of this.#running.keys()) this.stuck.add(file)
    for (const { pid } of processes) endProcess(pid)
  }
}

function ofThisRun(): readonly MarkedProcess[] {
  // Set by leftovers.ts. Without it nothing distinguishes the processes of this run from others.
  const mark = process.env['AGENTPROTO_TEST_RUN']
  return mark === undefined ? [] : processesMarked(mark).filter(({ pid }) => pid !== process.pid)
}

export function isWorker({ parent, commandLine }: MarkedProcess): boolean {
  return parent === process.pid && commandLine.includes('/vitest/dist/workers/')
}

/** A process that a stuck test may be waiting for. */
function processLine({ pid, commandLine }: MarkedProcess): string {
  return `  process ${pid}: ${commandLine.slice(0, 200)}`
}
