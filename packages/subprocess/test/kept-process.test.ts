import { keptProcess, type SpawnOptions } from '@agentproto/subprocess'
import type { KeptProcess } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { type Controller, MemoryKeeper } from '../../../tooling/memory-keeper.ts'
import { alive, launchOf, script } from './launching.ts'

interface Kept {
  readonly agent: KeptProcess
  readonly controller: Controller
  readonly lines: string[]
  readonly broken: string[]
}

/** An agent of a keeper as one host has it; it ends with the test. */
function control(controller: Controller, marker: string, options: Partial<SpawnOptions> = {}): Kept {
  const lines: string[] = []
  const broken: string[] = []
  const agent = keptProcess(controller, marker, {
    graces: { stdinGraceMs: 100, termGraceMs: 200 },
    onLines: (batch) => void lines.push(...batch),
    onBroken: (reason) => void broken.push(reason),
    ...options,
  })
  onTestFinished(async () => void (await (controller.isKilled || agent.terminate())))
  return { agent, controller, lines, broken }
}

async function spawned(launch = script('echo.mjs'), options: Partial<SpawnOptions> = {}) {
  const keeper = new MemoryKeeper()
  const kept = control(await keeper.spawn('key', launch, ''), launch.marker, options)
  const adopt = async (): Promise<Kept> => {
    const controller = await keeper.adopt('key')
    if (!controller) throw new Error('nothing is kept')
    return control(controller, launch.marker)
  }
  return { ...kept, keeper, adopt, marker: launch.marker }
}

test('16.a1 nothing is read before it begins, and the offsets are the ends of whole lines and of what was written', async () => {
  const { agent, lines } = await spawned(
    launchOf(process.execPath, [
      '-e',
      "process.stdout.write('one\\ntwö\\nop'); console.error('x'); setInterval(() => {}, 1000)",
    ]),
  )
  void agent.write('grüße')
  expect(agent.offsets).toEqual({ stdin: 8, stdout: 0, stderr: 0 })
  agent.begin()
  await expect.poll(() => agent.offsets).toEqual({ stdin: 8, stdout: 9, stderr: 2 })
  expect(lines).toEqual(['one', 'twö'])
})

test('16.a1 a batch that is being handled counts as passed on, and what waits behind it does not', async () => {
  let done = (): void => {}
  const { agent, controller } = await spawned(script('echo.mjs'), {
    onLines: () => new Promise<void>((resolve) => (done = resolve)),
  })
  agent.begin()
  void agent.write('one')
  await expect.poll(() => agent.offsets.stdout).toBe(4)
  void agent.write('two')
  await expect
    .poll(async () => (await controller.read('stdout', 0)[Symbol.asyncIterator]().next()).value?.length)
    .toBe(8)
  expect(agent.offsets.stdout).toBe(4)
  done()
  await expect.poll(() => agent.offsets.stdout).toBe(8)
  done()
})

test('16.a1 the next host reads from the last acknowledged offset, and knows when it has caught up', async () => {
  const { agent, controller, lines, adopt } = await spawned()
  agent.begin()
  void agent.write('one')
  await expect.poll(() => lines).toEqual(['one'])
  await agent.acknowledge(agent.offsets, 'facts', false)
  void agent.write('two')
  await expect.poll(() => lines).toEqual(['one', 'two'])
  controller.kill()
  const next = await adopt()
  expect(next.controller.facts).toBe('facts')
  expect(next.agent.info).toEqual(agent.info)
  next.agent.begin()
  await next.agent.caughtUp
  expect(next.lines).toEqual(['two'])
  void next.agent.write('three')
  await expect.poll(() => next.lines).toEqual(['two', 'three'])
  expect(next.agent.offsets).toEqual({ stdin: 14, stdout: 14, stderr: 0 })
})

test('16.R5 an agent that another host took over is neither ended nor reported as ended by the first', async () => {
  const { agent, broken, adopt } = await spawned()
  agent.begin()
  const next = await adopt()
  expect(await agent.lost).toMatchObject({ cause: 'taken-over' })
  await expect(agent.terminate()).rejects.toMatchObject({ code: 'termination_failed' })
  expect(broken[0]).toBe('another host controls the agent')
  expect(await Promise.race([agent.exit, agent.closed, Promise.resolve('runs')])).toBe('runs')
  expect(alive(agent.info.pid)).toBe(true)
  next.agent.begin()
  void next.agent.write('goes on')
  await expect.poll(() => next.lines).toEqual(['goes on'])
})

test('16.a1 when the keeper is lost, the agent is reported as broken and can be ended with all that it started', async () => {
  const { agent, broken, keeper } = await spawned()
  agent.begin()
  keeper.die()
  await expect.poll(() => broken[0]).toBe('the keeper is gone')
  await agent.terminate()
  expect(alive(agent.info.pid)).toBe(false)
  await agent.closed
})

test('16.a1 the output of an agent that ended while no host was there is read before its end is reported', async () => {
  const launch = launchOf(process.execPath, ['-e', "console.log('last'); process.exitCode = 3"])
  const { agent, controller, adopt } = await spawned(launch)
  controller.kill()
  await agent.exit
  const next = await adopt()
  await next.agent.exit
  let isClosed = false
  void next.agent.closed.then(() => (isClosed = true))
  await new Promise((resolve) => setImmediate(resolve))
  expect(isClosed).toBe(false)
  next.agent.begin()
  expect(await next.agent.closed).toEqual({ exitCode: 3 })
  expect(next.lines).toEqual(['last'])
})

test('16.a1 an agent that its host left is neither ended nor reported as ended', async () => {
  const { agent, controller, adopt } = await spawned()
  agent.begin()
  controller.lose({ cause: 'left', reason: 'the gateway is closed' })
  await agent.lost
  let isOver = false
  void Promise.race([agent.exit, agent.closed]).then(() => (isOver = true))
  const next = await adopt()
  next.agent.begin()
  void next.agent.write('goes on')
  await expect.poll(() => next.lines).toEqual(['goes on'])
  expect(isOver).toBe(false)
})
