import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { own } from '@agentproto/driver-agent-cli/installation'
import { recordedProcess } from '@agentproto/subprocess'
import { expect, onTestFinished, test, vi } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { removeLeft } from '../src/remove-left.ts'
import { folder } from './test-host.js'

/** A home with these folders in `agents` and `adapters`, each with a file that has its path, and folders of temporary files of its own. */
function homeWith(...paths: readonly string[]): string {
  const home = folder('left')
  vi.stubEnv('TMPDIR', folder('left-tmp'))
  onTestFinished(() => void vi.unstubAllEnvs())
  for (const path of paths) {
    mkdirSync(join(home, path), { recursive: true })
    writeFileSync(join(home, path, 'is'), path)
  }
  return home
}

/** Says that a folder is that of a process which has ended. */
function ofEnded(...path: readonly string[]): void {
  const { pid } = spawnSync('true')
  writeFileSync(`${join(...path)}.owner`, JSON.stringify({ ...recordedProcess(), pid, startTime: 'x', marker: '' }))
}

const whatIs = (...path: readonly string[]): string => readFileSync(join(...path, 'is'), 'utf8')

test(
  '18 an agent that was put aside by a killed process is back, in place of the unfinished one',
  needs('linux'),
  async () => {
    const home = homeWith('agents/sample', 'agents/.old-sample-0123abcd')
    ofEnded(home, 'agents/.old-sample-0123abcd')
    await removeLeft({ home })
    expect(readdirSync(join(home, 'agents'))).toEqual(['sample'])
    expect(whatIs(home, 'agents/sample')).toBe('agents/.old-sample-0123abcd')
  },
)

test(
  '18 an agent is removed whose process was killed before it had an adapter, and only then',
  needs('linux'),
  async () => {
    const home = homeWith('agents/without', 'agents/with', 'adapters/with', 'agents/other')
    for (const name of ['without', 'with']) ofEnded(home, 'agents', name)
    await removeLeft({ home })
    expect(readdirSync(join(home, 'agents')).toSorted()).toEqual(['other', 'with'])
  },
)

test('18 an adapter that was being replaced when the process was killed is back', needs('linux'), async () => {
  const home = homeWith('adapters/.new-0123abcd/copy/sample.old', 'adapters/.new-0123abcd/copy/sample')
  ofEnded(home, 'adapters/.new-0123abcd')
  await removeLeft({ home })
  expect(readdirSync(join(home, 'adapters'))).toEqual(['sample'])
  expect(whatIs(home, 'adapters/sample')).toContain('sample.old')
})

test(
  '18 folders of a living process stay, and those of an unknown one while the lock of their agent is held',
  needs('linux'),
  async () => {
    const kept = ['agents/.new-sample-0123abcd', 'agents/.old-sample-0123abcd', 'adapters/.new-0123abcd']
    const home = homeWith(
      ...kept,
      'agents/.new-locked-0123abcd',
      'provisioning/locked.json.lock',
      'agents/.new-free-0123abcd',
    )
    for (const path of kept) await own(join(home, path))
    await removeLeft({ home })
    for (const path of [...kept, 'agents/.new-locked-0123abcd'])
      expect([path, existsSync(join(home, path))]).toEqual([path, true])
    expect(existsSync(join(home, 'agents/.new-free-0123abcd'))).toBe(false)
  },
)

test(
  '18 a record that cannot be read says nothing of its owner: the folder stays while it is young',
  needs('linux'),
  async () => {
    const home = homeWith('adapters/.new-0123abcd', 'agents')
    writeFileSync(join(home, 'adapters/.new-0123abcd.owner'), '{"pid": "'.padEnd(100_000, 'x'))
    const warnings: string[] = []
    await removeLeft({ home, onWarning: (warning) => warnings.push(warning) })
    expect([existsSync(join(home, 'adapters/.new-0123abcd')), warnings]).toEqual([true, []])
  },
)
