import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const script = fileURLToPath(new URL('chaos/main.mjs', import.meta.url))
const keptScript = fileURLToPath(new URL('chaos/kept.mjs', import.meta.url))

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

/** A short run of `node e2e/chaos/kept.mjs`. */
test('16 chaos: agents outlive a gateway that is killed at random moments, and their turns are as without that', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    keptScript,
    '--kills',
    '8',
    '--agents',
    '4',
    '--seed',
    '5',
  ])
  expect(stdout).toMatch(
    /^kept: 8 ends \(\d+ in the boot, \d+ restarts\), 4 agents, \d+ turns, \d+ requests, \d{3,} events, 0 repairs, 0 faults/m,
  )
}, 240_000)
