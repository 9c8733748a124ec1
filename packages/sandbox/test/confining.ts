import { execFile } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@agentproto/contracts'
import type { Launch } from '@agentproto/contracts/agent'
import type { ConfinementProfile, SandboxRequest } from '@agentproto/sandbox'
import { onTestFinished } from 'vitest'

/** A folder of the test's own, without symbolic links. */
export function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'sandbox-')))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A profile that asks for nothing beyond what is given. */
export const profileOf = (more: Partial<ConfinementProfile> = {}): ConfinementProfile => ({
  provider: 'local',
  config: {},
  limits: {},
  mounts: [],
  readOnly: false,
  ...more,
})

export function requestOf(
  cwd: string,
  argv: readonly [string, ...string[]],
  more: Partial<SandboxRequest> = {},
): SandboxRequest {
  const [command, ...args] = argv
  const launch: Launch = { command, args, cwd, env: { PATH: process.env['PATH'] ?? '', HOME: cwd }, marker: 'test' }
  return { launch, clock: systemClock, signal: new AbortController().signal, ...more }
}

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a launch to its end. */
export function run({ command, args, cwd, env }: Launch): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(command, [...args], { cwd, env: { ...env }, timeout: 10_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, stdout, stderr })
    })
  })
}
