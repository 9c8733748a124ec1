import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { cacheFolder } from '../e2e/agent-cache.mjs'
import { endProcess, processesMarked } from './process-table.ts'
import type { MarkedProcess } from './process-table.ts'
import { isWorker } from './stuck-files-reporter.ts'

/**
 * Gives a test run a HOME, an agentproto home and a temporary folder of its own, and fails the run when one of its
 * processes is still running at the end.
 *
 * The path of the run's folder identifies its processes: it is in the environment of every child. Where a test starts a
 * child with a smaller environment, the child's working directory or arguments are in that folder.
 */
export function setup(): (() => Promise<void>) | undefined {
  // Each vitest project calls this; the first one speaks for the run.
  if (process.env['AGENTPROTO_TEST_RUN'] !== undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'ap-test-'))
  mkdirSync(join(folder, 'tmp'))
  mkdirSync(join(folder, 'user'))
  process.env['AGENTPROTO_TEST_RUN'] = folder
  moveHome(folder)
  return () => teardown(folder)
}

/** Caches stay where they are: npm's packages, and the agents that are installed for tests. */
function moveHome(folder: string): void {
  process.env['AGENTPROTO_E2E_CACHE'] = cacheFolder
  process.env['npm_config_cache'] ??= join(homedir(), '.npm')
  for (const name of ['XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME']) delete process.env[name]
  process.env['AGENTPROTO_HOME'] = join(folder, 'home')
  process.env['HOME'] = join(folder, 'user')
  process.env['TMPDIR'] = join(folder, 'tmp')
}

async function teardown(folder: string): Promise<void> {
  const left = await stillThere(folder)
  for (const { pid } of left) endProcess(pid)
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  if (left.length > 0) report(left)
}

/** Processes that remain after up to a second: one that a test has just signalled may need a moment to exit. */
async function stillThere(folder: string): Promise<readonly MarkedProcess[]> {
  let left: readonly MarkedProcess[] = []
  for (let look = 0; look < 10; look++) {
    left = processesMarked(folder).filter((found) => !isOwn(found))
    if (left.length === 0) break
    await sleep(100)
  }
  return left
}

/** The runner and its workers: they end after this teardown. */
function isOwn(found: MarkedProcess): boolean {
  return found.pid === process.pid || isWorker(found)
}

function report(left: readonly MarkedProcess[]): never {
  // vitest prints an error thrown by a teardown, but does not fail the run.
  process.exitCode = 1
  const names = left.map(({ pid, commandLine }) => `  ${pid} ${commandLine.slice(0, 200)}`)
  throw new Error(`The tests left ${left.length} process(es) running; they were killed:\n${names.join('\n')}`)
}
