import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const script = fileURLToPath(new URL('chaos/main.mjs', import.meta.url))

/** The long run is `node e2e/chaos/main.mjs`; this one shows that it works and that nothing obvious is lost. */
test('killed at random moments the gateway loses, repeats and leaves nothing', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    script,
    '--kills',
    '4',
    '--sessions',
    '4',
    '--seed',
    '3',
  ])
  expect(stdout).toMatch(/^chaos: 4 kills, 4 sessions, \d{3,} events, 0 faults/m)
}, 120_000)
