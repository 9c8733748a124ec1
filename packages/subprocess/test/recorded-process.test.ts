import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { compilePackage } from '../../../tooling/compiled-package.ts'
import { needs } from '../../../tooling/needs.ts'
import { identify } from '../src/process-table.ts'
import { hasSurelyEnded, recordedProcess, type RecordedProcess } from '../src/recorded-process.ts'

const LINUX = needs('linux')

/** A process of this machine, as it would record itself. */
async function recordedChild(command = 'sleep', args: readonly string[] = ['60']) {
  const child = spawn(command, args, { stdio: 'ignore' })
  await once(child, 'spawn')
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { child, ended, record: recordOf(child.pid ?? 0) }
}

function recordOf(pid: number): RecordedProcess {
  const [process, own] = [identify(pid), recordedProcess()]
  if (process === undefined || own === undefined) throw new Error('it is not known')
  return { ...process, kernel: own.kernel }
}

test('a process that runs has not ended, also while it is frozen; one that was killed has', LINUX, async () => {
  const { child, ended, record } = await recordedChild()
  expect(hasSurelyEnded(record)).toBe(false)
  child.kill('SIGSTOP')
  await expect.poll(() => stateOf(record.pid)).toBe('T')
  expect(hasSurelyEnded(record)).toBe(false)
  child.kill('SIGKILL')
  await ended
  expect(hasSurelyEnded(record)).toBe(true)
})

test('a process whose parent has not read its end has ended', LINUX, async () => {
  // The second program knows nothing of the child of the first.
  const { child } = await recordedChild('sh', ['-c', 'sleep 0.3 & exec sleep 60'])
  let record: RecordedProcess | undefined
  await expect.poll(() => (record ??= childOf(child.pid ?? 0)) !== undefined, { interval: 5 }).toBe(true)
  if (record === undefined) throw new Error('it has no child')
  const { pid } = record
  expect(hasSurelyEnded(record)).toBe(false)
  await expect.poll(() => stateOf(pid)).toBe('Z')
  expect(hasSurelyEnded(record)).toBe(true)
})

test('a process that has the pid of an earlier one is not that one', LINUX, () => {
  const own = recordOf(process.pid)
  expect(hasSurelyEnded(own)).toBe(false)
  expect(hasSurelyEnded({ ...own, startTime: `${own.startTime}0` })).toBe(true)
})

test('of another boot, another machine, another container and what is no process nothing is known', LINUX, async () => {
  const { child, ended, record } = await recordedChild()
  child.kill('SIGKILL')
  await ended
  const [boot = '', pids = '', times = ''] = record.kernel.split(' ')
  const others = [
    `${boot.replace(/^./, 'x')} ${pids} ${times}`,
    `${boot} pid:[1] ${times}`,
    `${boot} ${pids} time:[1]`,
    '',
  ]
  for (const kernel of others) expect(hasSurelyEnded({ ...record, kernel })).toBe(false)
  for (const pid of [0, -1, -record.pid, 1.5, Number.NaN, 2 ** 53])
    expect(hasSurelyEnded({ ...record, pid })).toBe(false)
  expect(hasSurelyEnded(record)).toBe(true)
})

test.each([
  ['with the pids of its own', ['--proc', '/proc'], expect.any(String) as string],
  ['that shows the processes of its machine', [], 'nothing'],
])('a container %s does not record what the machine could misunderstand', needs('bwrap'), async (_, proc, recorded) => {
  compilePackage(join(import.meta.dirname, '..'))
  const program = `const { recordedProcess } = await import(${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)})
process.stdout.write(recordedProcess()?.kernel ?? 'nothing')`
  const args = [
    '--bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--unshare-pid',
    ...proc,
    process.execPath,
    '--input-type=module',
    '-e',
    program,
  ]
  const contained = spawn('bwrap', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let kernel = ''
  contained.stdout.setEncoding('utf8').on('data', (text: string) => (kernel += text))
  await once(contained, 'close')
  expect(kernel).toEqual(recorded)
  expect(kernel).not.toBe('')
  expect(kernel).not.toBe(recordedProcess()?.kernel)
})

const stateOf = (pid: number): string => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  return stat.charAt(stat.lastIndexOf(')') + 2)
}

function childOf(parent: number): RecordedProcess | undefined {
  const pids = readdirSync(`/proc/${parent}/task`).flatMap((task) =>
    readFileSync(`/proc/${parent}/task/${task}/children`, 'utf8').split(' '),
  )
  const pid = Number(pids.find((each) => each !== ''))
  return pid > 0 && identify(pid) !== undefined ? recordOf(pid) : undefined
}
