import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'

const script = fileURLToPath(new URL('chaos/fleet.mjs', import.meta.url))

/** A short run of `node e2e/chaos/fleet.mjs`: three NATS servers, three gateways, and each kind of fault once. */
test(
  '17.3 chaos: gateways and NATS servers that are killed, frozen and cut off lose, repeat and reorder nothing, and no session has two owners',
  { ...needs('nats-server', 'linux'), timeout: 400_000 },
  async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      script,
      ...'--once --seed 7 --sessions 3 --movers 1 --lease 2000 --away 4000'.split(' '),
    ])
    expect(stdout).toMatch(
      /^fleet: 6 faults made \(1 gateway killed, 1 gateway frozen, 1 NATS server killed, 1 NATS server frozen, 1 NATS away, 1 host lost\), 3 sessions, 1 that may move \(\d+ moves, which lost \d+ events\), \d{2,} turns, \d{4,} events, 0 faults found/m,
    )
  },
)
