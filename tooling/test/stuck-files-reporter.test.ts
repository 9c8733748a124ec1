import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { needs } from '../needs.ts'

const ROOT = join(import.meta.dirname, '../..')

const CONFIG = `
import { FailedFilesReporter } from '${ROOT}/tooling/failed-files-reporter.ts'
import { StuckFilesReporter } from '${ROOT}/tooling/stuck-files-reporter.ts'
const files = new StuckFilesReporter(3_000)
export default {
  test: {
    pool: 'forks',
    isolate: false,
    maxWorkers: 2,
    reporters: ['default', files, new FailedFilesReporter('failed', files.stuck)],
  },
}
`

const FINE = `
import { expect, test } from 'vitest'
test('is fine', () => expect(1).toBe(1))
`

/** Runs vitest by itself in a folder with these files. */
async function run(files: Readonly<Record<string, string>>) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ap-stuck-')))
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  for (const [name, content] of Object.entries({ 'vitest.config.mts': CONFIG, ...files }))
    writeFileSync(join(folder, name), content)
  const vitest = join(dirname(require.resolve('vitest/package.json', { paths: [ROOT] })), 'vitest.mjs')
  const env = { ...process.env, AGENTPROTO_TEST_RUN: folder, FAILED_FILES: '' }
  const child = spawn(process.execPath, [vitest, 'run'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, problems, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ])
  return { out, problems, code, failed: readFileSync(join(folder, 'failed'), 'utf8') }
}

test(
  'a file in an endless loop is named with its test and ended, and the others have their results',
  needs('linux'),
  async () => {
    const loop = `
import { test } from 'vitest'
test('is over', () => new Promise((resolve) => setTimeout(resolve, 500)))
test('goes on and on', () => { for (;;); }, 100)
`
    const { out, problems, code, failed } = await run({ 'loop.test.ts': loop, 'fine.test.ts': FINE })
    expect({ code, failed }).toEqual({ code: 1, failed: 'loop.test.ts\n' })
    expect(problems).toContain('  loop.test.ts; seen last: ')
    expect(out).toMatch(/1 passed/)
  },
)

test('a file that waits for a child synchronously is ended, and the child is named', needs('linux'), async () => {
  const waits = `
import { execFileSync } from 'node:child_process'
execFileSync('sleep', ['30'])
`
  const { problems, code, failed } = await run({ 'waits.test.ts': waits, 'fine.test.ts': FINE })
  expect({ code, failed }).toEqual({ code: 1, failed: 'waits.test.ts\n' })
  expect(problems).toContain('  waits.test.ts; seen last: its load')
  expect(problems).toMatch(/ {2}process \d+: sleep 30/)
})
