import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { FailedFilesReporter } from './tooling/failed-files-reporter.ts'
import { PlainCountReporter } from './tooling/plain-count-reporter.ts'
import { StuckFilesReporter } from './tooling/stuck-files-reporter.ts'

// Tests read the workspace packages' TypeScript, not their dist: a fresh clone tests without building.
const conditions = ['@agentproto/source', 'module', 'node', 'development|production']

// Where `tooling/test-twice.sh` wants the list of failed files.
const failedFiles = process.env['FAILED_FILES']
const stuckFiles = new StuckFilesReporter()

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // One process tree is checked for leftovers per run, so forks (not threads) and a known order of ending.
    pool: 'forks',
    // Files share the modules of their worker: loading them again for each file took a third of the
    // processor time of a run.
    isolate: false,
    // More than a small machine has cores: tests mostly wait for processes that they have started.
    maxWorkers: Math.max(4, availableParallelism()),
    globalSetup: ['./tooling/leftovers.ts'],
    // Limits are for what hangs, not for what is slow: a busy machine must not fail a test. vitest's own for `poll` is a second.
    expect: { poll: { timeout: 30_000, interval: 20 } },
    reporters: [
      'default',
      new PlainCountReporter(),
      stuckFiles,
      ...(failedFiles === undefined ? [] : [new FailedFilesReporter(failedFiles, stuckFiles.stuck)]),
    ],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['packages/*/test/**/*.test.ts', 'packages/arms/*/test/**/*.test.ts', 'tooling/test/**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/*.{e2e,agents}.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['packages/*/test/**/*.e2e.test.ts', 'e2e/**/*.e2e.test.ts'],
          exclude: ['**/node_modules/**'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          // Real agents, clients of others, and terminals: what Node alone cannot run. A file belongs here by its name.
          name: 'agents',
          include: ['packages/*/test/**/*.agents.test.ts', 'e2e/**/*.agents.test.ts'],
          exclude: ['**/node_modules/**'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
})
