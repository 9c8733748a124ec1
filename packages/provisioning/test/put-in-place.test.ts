import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { putInPlace } from '../src/registry/put-in-place.ts'
import type { Trial } from '../src/registry/trial.ts'
import { adapterOf, folder, hostOf, program, versionProgram } from './test-host.ts'

test('18.2 an agent stays where it is when its ledger cannot be read', async () => {
  const host = hostOf()
  const { manifest } = await adapterOf({})
  const prefix = join(host.home, 'agents/tool')
  program(join(prefix, 'bin'), 'agent-tool', versionProgram('1.0.0'))
  // A folder in its place is no file that can be read.
  mkdirSync(join(host.home, 'provisioning/tool.json'), { recursive: true })
  const trial = { host, prefix: folder('trial') } as unknown as Trial
  const placed = putInPlace({ trial, host, manifest, commit: () => Promise.resolve() })
  await expect(placed).rejects.toMatchObject({ code: 'storage_failed' })
  expect(existsSync(join(prefix, 'bin/agent-tool'))).toBe(true)
  expect(readdirSync(join(host.home, 'agents'))).toEqual(['tool'])
})
