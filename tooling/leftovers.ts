import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { cacheFolder } from '../e2e/agent-cache.mjs'
import { processesMarked } from './process-table.ts'
import type { MarkedProcess } from './process-table.ts'

/**
 * Gives a test run a user's folder, a home and a temp folder of its own, and fails the run when a process of it is left.
 *
 * The run's folder is the mark: it is in the environment of every child, and where a test hands its child
 * a smaller environment, the child's cwd or arguments still lie in that folder.
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

/** What only caches stays where it is: packages of npm, and the agents installed for the end-to-end tests. */
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
  for (const { pid } of left) end(pid)
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  if (left.length > 0) report(left)
}

/** What is left after a moment: a process that a test has just ended may take one to go. */
async function stillThere(folder: string): Promise<readonly MarkedProcess[]> {
  let left: readonly MarkedProcess[] = []
  for (let look = 0; look < 10; look++) {
    left = processesMarked(folder).filter((found) => !isOwn(found))
    if (left.length === 0) break
    await sleep(100)
  }
  return left
}

/** The runner itself and its workers, which end after this teardown. */
function isOwn({ pid, parent, commandLine }: MarkedProcess): boolean {
  return pid === process.pid || (parent === process.pid && commandLine.includes('/vitest/dist/workers/'))
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended between the look and the signal.
  }
}

function report(left: readonly MarkedProcess[]): never {
  // vitest prints what a teardown throws, but does not fail the run for it.
  process.exitCode = 1
  const names = left.map(({ pid, commandLine }) => `  ${pid} ${commandLine.slice(0, 200)}`)
  throw new Error(`The tests left ${left.length} process(es) running (ended now):\n${names.join('\n')}`)
}
