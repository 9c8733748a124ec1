import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createWorkspaces } from '@agentproto/workspaces'
import type { WorkspaceService } from '@agentproto/contracts'

export interface TempHome {
  readonly home: string
  readonly file: string
  /** The host's own folder. */
  readonly own: string
  readonly service: WorkspaceService
  readonly warnings: readonly string[]
  /** Makes a folder and gives its real path. */
  folder(name: string): Promise<string>
}

/** A home of the test's own, gone when the test is. The clock stands at 2026-01-02T03:04:05.678Z. */
export async function tempHome(): Promise<TempHome> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'agentproto-workspaces-')))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const folder = async (name: string): Promise<string> => {
    await mkdir(join(root, name), { recursive: true })
    return join(root, name)
  }
  const home = join(root, 'home')
  const own = await folder('own')
  const warnings: string[] = []
  const clock = { now: () => Date.parse('2026-01-02T03:04:05.678Z'), after: () => ({ cancel: () => undefined }) }
  const service = createWorkspaces({ home, defaultCwd: own, clock, onWarning: (message) => warnings.push(message) })
  return { home, file: join(home, 'workspaces.json'), own, service, warnings, folder }
}
