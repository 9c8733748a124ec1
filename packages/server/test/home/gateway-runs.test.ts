import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { identify, recordedProcess } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../../tooling/needs.ts'
import { recordRun } from '../../src/home/gateway-runs.js'
import { temporaryFolder } from '../fixtures/temporary-folder.js'

const LINUX = needs('linux')
const noProblem = (problem: string): never => expect.fail(problem)

interface StoredRun {
  readonly run: string
  readonly process?: { readonly pid: number; readonly startTime: string; readonly kernel: string }
  readonly ended?: boolean
}

const newFile = async (): Promise<string> => join(await temporaryFolder(), 'fleet-runs.json')
const stored = (path: string): readonly StoredRun[] =>
  (JSON.parse(readFileSync(path, 'utf8')) as { runs: StoredRun[] }).runs
const store = (path: string, ...runs: readonly StoredRun[]): void => writeFileSync(path, JSON.stringify({ runs }))

/** A gateway in a process of its own, as its home has it. */
async function gateway(run: string) {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' })
  await once(child, 'spawn')
  const exited = once(child, 'exit')
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  onTestFinished(kill)
  const own = identify(child.pid ?? 0)
  if (own === undefined) throw new Error('it is not known')
  return { child, kill, stored: { run, process: { ...own, kernel: recordedProcess()?.kernel ?? '' } } }
}

test('17.3 a gateway of the home that was killed has ended; one that is frozen has not', LINUX, async () => {
  const path = await newFile()
  const killed = await gateway('killed')
  const frozen = await gateway('frozen')
  store(path, frozen.stored, killed.stored)
  await killed.kill()
  frozen.child.kill('SIGSTOP')
  const runs = recordRun(path, noProblem)
  expect(['killed', 'frozen', 'unknown', runs.own].map((run) => runs.hasEnded(run))).toEqual([
    true,
    false,
    false,
    false,
  ])
  await frozen.kill()
  expect(runs.hasEnded('frozen')).toBe(true)
})

test('17.3 a gateway that was killed before it joined leaves what is known of those before it', LINUX, async () => {
  const path = await newFile()
  const first = await gateway('first')
  store(path, first.stored)
  await first.kill()
  const second = recordRun(path, noProblem)
  const third = recordRun(path, noProblem)
  expect(third.hasEnded('first')).toBe(true)
  // It is this process, which runs.
  expect(third.hasEnded(second.own)).toBe(false)
  expect(new Set([second.own, third.own]).size).toBe(2)
})

test('17.3 a gateway that left says so, wherever the file is read', async () => {
  const path = await newFile()
  const left = recordRun(path, noProblem)
  expect(recordRun(path, noProblem).hasEnded(left.own)).toBe(false)
  left.end()
  const elsewhere = { pid: 1, startTime: 'another', kernel: 'another' }
  store(path, ...stored(path).map((run) => ({ ...run, process: elsewhere })))
  expect(recordRun(path, noProblem).hasEnded(left.own)).toBe(true)
})

test('17.3 a home that was copied to another machine, or is there after a reboot, proves nothing', LINUX, async () => {
  const path = await newFile()
  const { stored: run, kill } = await gateway('elsewhere')
  await kill()
  const [boot = '', ...namespaces] = run.process.kernel.split(' ')
  store(path, { ...run, process: { ...run.process, kernel: [boot.replaceAll(/\w/g, 'a'), ...namespaces].join(' ') } })
  expect(recordRun(path, noProblem).hasEnded('elsewhere')).toBe(false)
})

test('17.3 the copy of a home does not end the gateway of the original', LINUX, async () => {
  const path = await newFile()
  const original = recordRun(path, noProblem)
  const copy = await newFile()
  copyFileSync(path, copy)
  expect(recordRun(copy, noProblem).hasEnded(original.own)).toBe(false)
})

test('17.3 the file has the last eight gateways, for its owner alone', async () => {
  const path = await newFile()
  const runs = Array.from({ length: 12 }, () => recordRun(path, noProblem).own)
  expect(stored(path).map(({ run }) => run)).toEqual(runs.toReversed().slice(0, 8))
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test.each([
  ['no JSON', 'hello'],
  ['a list', '[]'],
  [
    'runs that are none',
    '{"runs":[null,1,"killed",{},{"run":""},{"run":7,"ended":true},{"run":"killed","ended":"yes"}]}',
  ],
  ['a process that is none', '{"runs":[{"run":"killed","process":{"pid":"1","startTime":2,"kernel":null}}]}'],
  [
    'every process',
    `{"runs":[{"run":"killed","process":{"pid":-1,"startTime":"x","kernel":${JSON.stringify(recordedProcess()?.kernel ?? '')}}}]}`,
  ],
  ['too much', JSON.stringify({ runs: [{ run: 'killed', ended: true }], more: ' '.repeat(64 * 1024) })],
])('17.3 a file with %s proves nothing, and is replaced', async (_, text) => {
  const path = await newFile()
  writeFileSync(path, text)
  const runs = recordRun(path, noProblem)
  expect(runs.hasEnded('killed')).toBe(false)
  expect(stored(path)[0]?.run).toBe(runs.own)
})

test('17.3 a file that cannot be written is said, and no gateway fails by it', async () => {
  const path = join(await temporaryFolder(), 'folder', 'fleet-runs.json')
  const problems: string[] = []
  expect(recordRun(path, (problem) => void problems.push(problem)).own).not.toBe('')
  expect(problems).toEqual([expect.stringContaining(path)])
})
