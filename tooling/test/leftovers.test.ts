import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../needs.ts'
import { processesMarked } from '../process-table.ts'

test('F53 a test run has a home and a temp folder of its own', () => {
  const run = process.env['AGENTPROTO_TEST_RUN']
  expect(run).toBeTruthy()
  expect(process.env['AGENTPROTO_HOME']).toBe(join(run ?? '', 'home'))
  expect(tmpdir()).toBe(join(run ?? '', 'tmp'))
  expect(homedir()).toBe(join(run ?? '', 'user'))
})

test('a process is found by the mark in its environment', needs('linux'), async () => {
  const child = idle({ env: { MARK: 'ap-mark-environment' } })
  await once(child, 'spawn')
  expect(processesMarked('ap-mark-environment').map(({ pid }) => pid)).toEqual([child.pid])
})

test('a process with an empty environment is found by its folder', needs('linux'), async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'ap-mark-folder-'))
  const child = idle({ env: {}, cwd })
  await once(child, 'spawn')
  expect(processesMarked(cwd)).toMatchObject([{ pid: child.pid, parent: process.pid }])
})

test('a process that has ended is not found', needs('linux'), async () => {
  const child = idle({ env: { MARK: 'ap-mark-ended' } })
  await once(child, 'spawn')
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(processesMarked('ap-mark-ended')).toEqual([])
})

function idle(options: { env: Record<string, string>; cwd?: string }) {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { ...options, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}
