import { spawn } from 'node:child_process'
import { type Clock, systemClock } from '@agentproto/contracts'
import { endProcesses, findMarkedProcesses, identify } from '@agentproto/subprocess'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { ProcessTree } from '../src/process-tree.ts'
import { endTree, sendSignal } from '../src/termination.ts'
import { alive, launchOf, script, start } from './launching.ts'

test('an agent that ends with its stdin is not signalled', async () => {
  const { agent } = await start(script('echo.mjs'), { graces: { stdinGraceMs: 5_000, termGraceMs: 5_000 } })
  expect(await agent.terminate()).toEqual({ exitCode: 0 })
})

test('an agent that ignores the end of stdin gets SIGTERM', async () => {
  const { agent } = await start(launchOf('/bin/sleep', ['300']))
  expect(await agent.terminate()).toEqual({ signal: 'SIGTERM' })
})

test('F22 a stubborn agent and its grandchild in another session are gone when terminate resolves', async () => {
  const { agent, line } = await start(script('stubborn.mjs'))
  const { self, grandchild } = JSON.parse(await line()) as { self: number; grandchild: number }
  expect([alive(self), alive(grandchild)]).toEqual([true, true])
  expect(await agent.terminate()).toEqual({ signal: 'SIGKILL' })
  expect([alive(self), alive(grandchild)]).toEqual([false, false])
})

test('F23 F36 what an agent leaves running when it ends by itself is found by its environment and ended', async () => {
  const { agent, line } = await start(script('orphan.mjs'))
  const orphan = Number(await line())
  void agent.write('end')
  expect(await agent.exit).toEqual({ exitCode: 3 })
  expect(await agent.terminate()).toEqual({ exitCode: 3 })
  expect(alive(orphan)).toBe(false)
})

test('F23 an orphan with a clean environment is ended because it was recorded while its parent lived', async () => {
  const { agent, line } = await start(script('orphan.mjs', 'clean'))
  const orphan = Number(await line())
  expect(agent.snapshot().map(({ pid }) => pid)).toContain(orphan)
  void agent.write('end')
  await agent.terminate()
  expect(alive(orphan)).toBe(false)
})

test('F23 descendants are recorded soon after output of the agent, without a request', async () => {
  const due: (() => void)[] = []
  const clock: Clock = {
    ...systemClock,
    after: (ms, run) => (ms === 2_000 ? (due.push(run), { cancel: () => {} }) : systemClock.after(ms, run)),
  }
  const { agent, line } = await start(script('orphan.mjs', 'clean'), { clock })
  const orphan = Number(await line())
  expect(due).toHaveLength(1)
  due[0]?.()
  void agent.write('end')
  await agent.terminate()
  expect(alive(orphan)).toBe(false)
})

test('terminate is idempotent, and fast when nothing survives', async () => {
  const { agent } = await start(launchOf('/bin/true'), { graces: { stdinGraceMs: 5_000, termGraceMs: 5_000 } })
  await agent.exit
  const before = performance.now()
  expect(agent.terminate()).toBe(agent.terminate())
  await agent.terminate()
  expect(performance.now() - before).toBeLessThan(4_000)
})

test('F25 no signal is ever sent to pid 0, to all processes, to init or to this process', () => {
  for (const pid of [0, -0, 1, -1, Number.NaN, 1.5, process.pid, undefined as unknown as number]) {
    expect(() => sendSignal(pid, 'SIGKILL')).not.toThrow()
  }
})

test('F30 a refused signal does not mean that the process is running', async () => {
  const { agent } = await start(launchOf('/bin/sleep', ['300']))
  const real = process.kill.bind(process)
  vi.spyOn(process, 'kill').mockImplementation((pid, signal) => {
    real(pid, signal)
    throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' })
  })
  onTestFinished(() => void vi.restoreAllMocks())
  expect(await agent.terminate()).toEqual({ signal: 'SIGTERM' })
  expect(alive(agent.info.pid)).toBe(false)
})

test('F29 F43 leftovers of a dead host are found by their marker and ended; a reused pid is left alone', async () => {
  const marker = `left-${process.pid}`
  const child = spawn('sleep', ['300'], { detached: true, stdio: 'ignore', env: { AGENTPROTO_SESSION_ID: marker } })
  onTestFinished(() => void child.kill('SIGKILL'))
  const pid = child.pid ?? 0
  const exited = new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)))
  const startTime = identify(pid)?.startTime ?? ''
  expect(findMarkedProcesses(marker)).toEqual([{ pid, startTime, marker }])
  expect(findMarkedProcesses()).toContainEqual({ pid, startTime, marker })

  await endProcesses([{ pid, startTime: `${startTime}1` }], { termGraceMs: 100 })
  expect(alive(pid)).toBe(true)
  await endProcesses(findMarkedProcesses(marker), { termGraceMs: 1_000 })
  expect(await exited).toBe('SIGTERM')
  expect(alive(pid)).toBe(false)
})

test('F24 what survives SIGKILL is named, and termination is not reported as done', async () => {
  let now = 0
  const clock: Clock = {
    now: () => now,
    after: (ms, run) => (queueMicrotask(() => ((now += ms), run())), { cancel: () => {} }),
  }
  const stuck = [{ pid: 2 ** 23, ppid: 1, pgid: 2 ** 23, startTime: 't' }]
  const tree = { collect: () => stuck, remaining: () => stuck } as unknown as ProcessTree
  await expect(endTree({ tree, clock, graces: { stdinGraceMs: 1_500, termGraceMs: 5_000 } })).rejects.toMatchObject({
    code: 'termination_failed',
    parts: { data: { pids: [2 ** 23] } },
  })
  expect(now).toBeLessThan(8_000)
})

test('a host that runs inside an agent does not list itself', () => {
  process.env['AGENTPROTO_SESSION_ID'] = 'outer'
  onTestFinished(() => void delete process.env['AGENTPROTO_SESSION_ID'])
  expect(findMarkedProcesses().map(({ pid }) => pid)).not.toContain(process.pid)
})

test('a host that exits without ending its agents kills them', async () => {
  const before = process.listeners('exit')
  const { agent, line } = await start(script('stubborn.mjs'))
  const { grandchild } = JSON.parse(await line()) as { grandchild: number }
  const [onExit] = process.listeners('exit').filter((listener) => !before.includes(listener))
  onExit?.(0)
  expect(await agent.exit).toEqual({ signal: 'SIGKILL' })
  await agent.terminate()
  expect(alive(grandchild)).toBe(false)
  await expect.poll(() => process.listeners('exit')).toEqual(before)
})
