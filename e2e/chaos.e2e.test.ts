import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const script = fileURLToPath(new URL('chaos/main.mjs', import.meta.url))

/** A short run of `node e2e/chaos/main.mjs`. */
test('a gateway that is killed at random moments loses no event, repeats none, and leaves no process', async () => {
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
