import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { openKeeper } from '@agentproto/keeper'
import { endProcesses, findMarkedProcesses, identify } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { type Dialect, NEWEST } from '../src/dialects.ts'
import { ConnectedKeeper } from '../src/keeper-client.ts'
import { programBuild } from '../src/start-keeper.ts'
import { FakeClock } from '../../gateway-http/test/fake-clock.ts'
import { echo, end, opened, program, textOf } from './held-programs.ts'
import { imaginedKeeper } from './imagined-keeper.ts'
import { keeperFolder, startProgram } from './keeper-process.ts'

const DAY = 24 * 3_600_000

test('16.6 a keeper that was killed is followed by another one at the next start, which holds nothing', async () => {
  const folder = keeperFolder()
  const keeper = await opened({ folder })
  const launch = program('process.on("SIGPIPE", () => {}); setInterval(() => {}, 1e6)')
  const agent = await keeper.spawn('a', launch, '')
  const { pid } = keeper.info
  await end(pid, 'SIGKILL')
  expect(await agent.lost).toMatchObject({ cause: 'unreachable' })
  await endProcesses(findMarkedProcesses(launch.marker), { termGraceMs: 500 })
  const starts = await Promise.all(['a', 'b', 'c'].map((key) => keeper.spawn(key, echo(), '')))
  expect(keeper.info.pid).not.toBe(pid)
  expect(starts[0]?.process.pid).not.toBe(agent.process.pid)
  expect((await keeper.list()).map(({ key }) => key).toSorted()).toEqual(['a', 'b', 'c'])
  void starts[0]?.write('hello')
  expect(starts[0] && (await textOf(starts[0], (text) => text.length === 5))).toBe('hello')
  expect(readdirSync(folder).filter((name) => name.endsWith('.sock'))).toEqual(['2.sock'])
})

test('16.6 a keeper that another gateway took over is not followed by another one', async () => {
  const folder = keeperFolder()
  const keeper = await opened({ folder })
  const next = await openKeeper({ folder, orphanMs: DAY })
  expect(await keeper.lost).toMatchObject({ cause: 'taken-over' })
  await expect(keeper.spawn('a', echo(), '')).rejects.toMatchObject({ code: 'keeper_unavailable' })
  expect(await next.list()).toEqual([])
})

test('17.3 a guard that waits for the keeper has no more time than it had before', async () => {
  const folder = keeperFolder()
  const clock = new FakeClock()
  const keeper = await opened({ folder, clock, hasHome: () => true })
  const launch = program('setInterval(() => {}, 1e6)')
  const agent = await keeper.spawn('a', launch, '')
  const other = await openKeeper({ folder, orphanMs: DAY })
  // It is being taken back.
  await expect.poll(() => clock.pending).toBeGreaterThan(0)
  const guarded = keeper.guard({ markers: [launch.marker], ms: 14_000, graceMs: 0 })
  const began = performance.now()
  clock.advance(14_000)
  expect(await guarded).toBe(true)
  await agent.exit
  expect(performance.now() - began).toBeLessThan(13_000)
  other.close()
})

test('16.1 a start that a frozen keeper does not answer is given up, and what it starts when it goes on is ended', async () => {
  const clock = new FakeClock()
  const keeper = await opened({ clock })
  await keeper.spawn('before', echo(), '')
  process.kill(keeper.info.pid, 'SIGSTOP')
  const launch = program('setInterval(() => {}, 1e6)')
  const refusal = keeper.spawn('late', launch, '').catch((error: unknown) => error)
  // The request is sent after a turn of the event loop.
  await expect.poll(() => clock.advance(15_000) ?? clock.now()).toBeGreaterThan(15_000)
  expect(await refusal).toMatchObject({ code: 'keeper_unavailable' })
  process.kill(keeper.info.pid, 'SIGCONT')
  await expect.poll(async () => (await keeper.list()).map(({ key }) => key)).toEqual(['before'])
  expect(findMarkedProcesses(launch.marker)).toEqual([])
})

test('16.5 a keeper of another build that holds nothing gives way to this one', async () => {
  const folder = keeperFolder()
  const older = await startProgram(folder, { build: '0.0.0+older' })
  const keeper = await opened({ folder })
  await older.ended
  expect(keeper.info).toMatchObject({ build: programBuild(), wire: 2 })
  expect(keeper.info.pid).not.toBe(older.child.pid)
})

test('16.5 a keeper of another build that holds an agent stays, and gives way when it holds none', async () => {
  const folder = keeperFolder()
  const older = await startProgram(folder, { build: '0.0.0+older' })
  onTestFinished(older.destroy)
  const first = await ConnectedKeeper.connect({ folder, orphanMs: DAY }, 'controller')
  const agent = await first?.spawn('a', echo(), '')
  const second = await opened({ folder })
  expect(second.info).toMatchObject({ pid: older.child.pid, build: '0.0.0+older' })
  const adopted = await second.adopt('a')
  expect(adopted?.process).toEqual(agent?.process)
  adopted?.endInput()
  await adopted?.exit
  await adopted?.release()
  const third = await opened({ folder })
  await older.ended
  expect(third.info.build).toBe(programBuild())
})

test('16.5 a keeper that holds nothing ends within a second of its last gateway', async () => {
  const keeper = await opened()
  const { pid } = keeper.info
  const agent = await keeper.spawn('a', echo(), '')
  agent.endInput()
  await agent.exit
  await agent.release()
  const left = performance.now()
  keeper.close()
  await expect.poll(() => identify(pid), { interval: 20, timeout: 10_000 }).toBe(undefined)
  // Of its own clock half a second; the rest is what the machine needs.
  expect(performance.now() - left).toBeGreaterThan(400)
})

test('16.5 a keeper of an older wire is spoken to in its version', async () => {
  const folder = keeperFolder()
  const asked = await imaginedKeeper(folder, { wires: [0], answers: { show: { held: [{ key: 'old', pid: 7 }] } } })
  const older: Dialect = {
    guards: false,
    request: (request) => (request['op'] === 'list' ? { ...request, op: 'show' } : request),
    frame: (frame) => ('held' in frame ? { ...frame, agents: frame['held'] } : frame),
  }
  const options = { folder, orphanMs: DAY }
  const keeper = await ConnectedKeeper.connect(options, 'controller', { 1: NEWEST, 0: older })
  expect(keeper?.info.wire).toBe(0)
  expect(await keeper?.list()).toMatchObject([{ key: 'old', pid: 7 }])
  expect(asked.map(({ op }) => op)).toEqual(['hello', 'show'])
  expect(asked[0]).toMatchObject({ wire: [0, 1] })
  keeper?.close()
})

test('16.5 a keeper whose wire is not spoken is left alone and named, however it says so', async () => {
  const folder = keeperFolder()
  const asked = await imaginedKeeper(folder, { wires: [3, 4], answers: {} })
  const options = { folder, orphanMs: DAY }
  const named = {
    code: 'keeper_unavailable',
    parts: { expected: 'one of 1, 2', given: [3, 4], hint: expect.stringContaining('agentproto stop') as string },
  }
  await expect(openKeeper(options)).rejects.toMatchObject(named)
  expect(new Set(asked.map(({ op }) => op))).toEqual(new Set(['hello']))
  expect(readdirSync(folder).filter((name) => name.endsWith('.sock'))).toEqual(['1.sock'])

  const other = keeperFolder()
  await imaginedKeeper(other, { wires: [3], answers: { hello: { wire: 3 } } })
  const misled = ConnectedKeeper.connect({ folder: other, orphanMs: DAY }, 'controller')
  await expect(misled).rejects.toMatchObject({ parts: { given: [3] } })
})

test('16.5 a keeper whose wire is not spoken and that ends, since it holds nothing, is replaced', async () => {
  const folder = keeperFolder()
  const asked = await imaginedKeeper(folder, { wires: [3], answers: {}, endsAfter: 3 })
  const keeper = await opened({ folder })
  expect(keeper.info.wire).toBe(2)
  expect(asked).toHaveLength(3)
})

test('17.3 a keeper of wire 1 is used as it is, and is never asked for a guard, which it does not know', async () => {
  const folder = keeperFolder()
  const asked = await imaginedKeeper(folder, {
    wires: [1],
    answers: { list: { agents: [] }, stop: { error: { code: 'agents_held' } } },
  })
  const keeper = await opened({ folder })
  expect(keeper.info.wire).toBe(1)
  expect(asked[0]?.['wire']).toEqual([1, 2])
  expect(await keeper.guard({ markers: ['s_a'], ms: 1_000, graceMs: 100 })).toBe(false)
  expect(await keeper.list()).toEqual([])
  expect(asked.map(({ op }) => op)).not.toContain('guard')
})

test('16 speed: agents that are adopted at the same time are in one list, later ones in another', async () => {
  const folder = keeperFolder()
  const agents = ['a', 'b', 'c'].map((key, at) => ({ key, pid: at + 1 }))
  const asked = await imaginedKeeper(folder, { wires: [1], answers: { list: { agents } } })
  const keeper = await ConnectedKeeper.connect({ folder, orphanMs: DAY }, 'controller')
  if (keeper === undefined) throw new Error('no keeper answers')
  onTestFinished(() => keeper.close())
  const adopted = await Promise.all(['a', 'c', 'unknown'].map((key) => keeper.adopt(key)))
  expect(adopted.map((agent) => agent?.process.pid)).toEqual([1, 3, undefined])
  expect(await keeper.adopt('b')).toMatchObject({ key: 'b' })
  expect(asked.map(({ op }) => op)).toEqual(['hello', 'list', 'list'])
})

test('16.1 a planted socket with a number that no keeper has is passed over, and the highest is refused by its name', async () => {
  for (const name of ['999999999999999.sock', '0.sock', '007.sock', '-1.sock', '1e3.sock', `${'9'.repeat(200)}.sock`]) {
    const folder = keeperFolder()
    mkdirSync(folder, { mode: 0o700 })
    writeFileSync(`${folder}/${name}`, '')
    await opened({ folder })
    expect(readdirSync(folder)).toContain('1.sock')
  }
  const odd = keeperFolder()
  mkdirSync(`${odd}/5.sock/full`, { recursive: true, mode: 0o700 })
  symlinkSync('/nowhere', `${odd}/7.sock`)
  const keeper = await opened({ folder: odd })
  expect(await keeper.list()).toEqual([])
  expect(readdirSync(odd).toSorted()).toEqual(['5.sock', '8.sock', 'secret'])
  const folder = keeperFolder()
  mkdirSync(folder, { mode: 0o700 })
  writeFileSync(`${folder}/999999999.sock`, '')
  await expect(openKeeper({ folder, orphanMs: DAY })).rejects.toMatchObject({
    code: 'keeper_unavailable',
    message: expect.stringContaining('no number is left: remove 999999999.sock') as string,
  })
})

test('16.2 an agent that was released is not followed any more', async () => {
  const keeper = await opened()
  const first = await keeper.spawn('a', echo(), '')
  first.endInput()
  await first.exit
  await first.release()
  const next = await keeper.spawn('b', echo(), '')
  keeper.close()
  expect(await next.lost).toMatchObject({ cause: 'left' })
  expect(await Promise.race([first.lost, Promise.resolve('not followed')])).toBe('not followed')
})
