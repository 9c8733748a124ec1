import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@agentproto/contracts'
import type { FleetOptions } from '../../src/fleet-options.ts'

/** The key of the fleets of tests, in base64url. */
const KEY_TEXT = 'k'.repeat(43)
/** The same, for those that need no file of it. */
export const FLEET_KEY = new Uint8Array(Buffer.from(KEY_TEXT, 'base64url'))

/** Options for a server without accounts. Problems are collected where they are given. */
export const fleetOptions = (servers: readonly string[], more: Partial<FleetOptions> = {}): FleetOptions => ({
  servers,
  key: keyFile(),
  clock: systemClock,
  onProblem: () => {},
  ...more,
})

let path: string | undefined

/** One file for all tests of a process, which ends with it. */
export function keyFile(): string {
  if (path !== undefined) return path
  const folder = mkdtempSync(join(tmpdir(), 'agentproto-key-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  path = join(folder, 'fleet.key')
  writeFileSync(path, KEY_TEXT, { mode: 0o600 })
  return path
}
