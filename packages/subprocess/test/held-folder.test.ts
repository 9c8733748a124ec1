import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawnAgentProcess } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { inHeldFolder } from '../src/held-folder.ts'
import { launchOf, start } from './launching.ts'

function scratch(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agentproto-held-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['a', 'b', 'b/c']) mkdirSync(join(folder, name))
  return folder
}

const pwd = (cwd: string): string => execFileSync('/bin/pwd', ['-P'], { cwd, encoding: 'utf8' }).trim()

test('12.A1 a process starts in the folder that was checked, whatever has its name by then', needs('linux'), () => {
  const root = scratch()
  const place = inHeldFolder(join(root, 'a'), (cwd) => {
    renameSync(join(root, 'a'), join(root, 'moved'))
    symlinkSync(join(root, 'b'), join(root, 'a'))
    return pwd(cwd)
  })
  expect(place).toBe(join(root, 'moved'))
})

test('12.A1 a link in the place of the folder, or further up, is refused and nothing is started', async () => {
  const root = scratch()
  symlinkSync(join(root, 'b'), join(root, 'link'))
  for (const cwd of [join(root, 'link'), join(root, 'link/c'), `${root}/b/../a`]) {
    await expect(
      spawnAgentProcess(launchOf('/bin/pwd', [], { cwd }), { graces, onLines: () => {} }),
    ).rejects.toMatchObject({
      code: 'cwd_invalid',
      message: expect.stringContaining('leads elsewhere'),
    })
  }
})

const graces = { stdinGraceMs: 100, termGraceMs: 200 }

test('12.A1 a process sees the path of its folder, and not how it came there', async () => {
  const cwd = join(scratch(), 'b/c')
  const { line } = await start(launchOf('/bin/sh', ['-c', 'pwd -P; pwd; ls /proc/self/fd | wc -l'], { cwd }))
  expect([await line(), await line()]).toEqual([cwd, cwd])
})
