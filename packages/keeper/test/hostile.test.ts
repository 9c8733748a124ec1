import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connectKeeper, lookAtKeeper, openKeeper } from '@agentproto/keeper'
import type { HomeKeeper } from '@agentproto/keeper'
import { endProcesses, findMarkedProcesses, identify } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { echo, end, opened, program, textOf } from './held-programs.ts'
import { connected, keeperFolder, startProgram } from './keeper-process.ts'

test('16.1 ten gateways that start at the same time share one keeper', async () => {
  const folder = keeperFolder()
  const keepers = await Promise.all(Array.from({ length: 10 }, () => openKeeper({ folder, orphanMs: 60_000 })))
  onTestFinished(() => end(keepers[0]?.info.pid ?? 0, 'SIGTERM'))
  expect(new Set(keepers.map(({ info }) => info.pid)).size).toBe(1)
  expect(readdirSync(folder).toSorted()).toEqual(['1.sock', 'secret'])
})

test('16.1 ten keepers that start in place of a killed one are one in the end', async () => {
  const folder = keeperFolder()
  const first = await openKeeper({ folder, orphanMs: 60_000 })
  await end(first.info.pid, 'SIGKILL')
  const programs = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const started = await startProgram(folder)
      onTestFinished(started.destroy)
      return started.word
    }),
  )
  expect(programs.filter((word) => word === 'ready')).toEqual(['ready'])
  expect(readdirSync(folder).filter((name) => name.endsWith('.sock'))).toEqual(['2.sock'])
})

test('16.1 the socket and the secret are private, and a folder that is not is refused', async () => {
  const keeper = await opened()
  const folder = readlinkOfSocketFolder(keeper)
  expect((statSync(folder).mode & 0o777).toString(8)).toBe('700')
  for (const name of readdirSync(folder))
    expect([name, (statSync(`${folder}/${name}`).mode & 0o777).toString(8)]).toEqual([name, '600'])
  const open = keeperFolder()
  mkdirSync(open)
  chmodSync(open, 0o755)
  await expect(openKeeper({ folder: open, orphanMs: 1 })).rejects.toMatchObject({ code: 'keeper_unavailable' })
})

test('16.1 a keeper that cannot start is reported, and no process is left', async () => {
  const folder = keeperFolder()
  mkdirSync(folder, { mode: 0o700 })
  writeFileSync(`${folder}/secret`, 'damaged', { mode: 0o600 })
  await expect(openKeeper({ folder, orphanMs: 1 })).rejects.toMatchObject({ code: 'keeper_unavailable' })
  expect(readdirSync(folder).filter((name) => name.endsWith('.sock'))).toEqual([])
})

test('16.1 a home with a path longer than that of a socket has a keeper', async () => {
  const keeper = await opened({ folder: keeperFolder(`${'d'.repeat(120)}/${'e'.repeat(120)}`) })
  const agent = await keeper.spawn('a', echo(), '')
  void agent.write('hello')
  expect(await textOf(agent, (text) => text.length === 5)).toBe('hello')
})

test('16.1 a stranger, garbage and a thousand connections keep no gateway out', async () => {
  const folder = keeperFolder()
  const keeper = await opened({ folder })
  const agent = await keeper.spawn('a', echo(), '')
  const sockets = await Promise.all(
    Array.from({ length: 1000 }, async (_, n) => {
      const socket = await connected(`${folder}/1.sock`).catch(() => undefined)
      socket?.on('error', () => {})
      if (n % 3 === 0) socket?.write(randomBytes(64))
      return socket
    }),
  )
  onTestFinished(() => sockets.forEach((socket) => socket?.destroy()))
  const look = await lookAtKeeper(folder)
  expect(look?.agents.map(({ key }) => key)).toEqual(['a'])
  void agent.write('still here')
  expect(await textOf(agent, (text) => text.length === 10)).toBe('still here')
})

test('16.1 a controller that reads nothing is no burden: the agent waits, and the next gateway has all of it', async () => {
  const bounds = { memoryBytes: 1 << 20, fileBytes: 4 << 20 }
  const folder = keeperFolder()
  const keeper = await opened({ folder, bounds })
  const total = 24 << 20
  const flood = `const b = Buffer.alloc(1 << 16, 'y'); let n = ${total >> 16}; (function more() { while (n-- > 0) if (!process.stdout.write(b)) return process.stdout.once('drain', more) })()`
  const agent = await keeper.spawn('flood', program(flood), '')
  await expect.poll(async () => (await keeper.list())[0]?.stalled).toBe('full')
  const [row] = await keeper.list()
  expect(row?.keptBytes).toBeLessThan(5.2 * (1 << 20))
  expect(rssOf(keeper.info.pid)).toBeLessThan(70)
  let count = 0
  for await (const chunk of agent.read('stdout', 0)) {
    count += chunk.length
    await agent.acknowledge({ stdin: 0, stdout: count, stderr: 0 }, '', true)
  }
  expect(count).toBe(total)
  expect(await agent.exit).toEqual({ exitCode: 0 })
  await agent.release()
})

test('16.1 an agent that is frozen refuses nothing: writes wait until it goes on, in order', async () => {
  const keeper = await opened({ bounds: { queueBytes: 64 << 10 } })
  const agent = await keeper.spawn('a', echo(), '')
  void agent.write('up\n')
  await textOf(agent, (text) => text === 'up\n')
  expect(await keeper.signal('a', 'SIGSTOP')).toBe(true)
  const lines = Array.from({ length: 200 }, (_, n) => `${n} ${'z'.repeat(8 << 10)}\n`)
  const writes = lines.map((line) => agent.write(line))
  expect(writes.at(-1)).toBeInstanceOf(Promise)
  expect(await keeper.signal('a', 'SIGCONT')).toBe(true)
  for (const write of writes) await write
  const wanted = lines.join('')
  expect(await textOf(agent, (text) => text.length >= wanted.length, 3)).toBe(wanted)
  agent.endInput()
  expect(await agent.exit).toEqual({ exitCode: 0 })
})

test('16.1 no more is retained than may be: what is written waits for an acknowledgement', async () => {
  const keeper = await opened({ bounds: { memoryBytes: 64 << 10, fileBytes: 64 << 10, queueBytes: 32 << 10 } })
  const agent = await keeper.spawn('a', program('process.stdin.resume()'), '')
  const lines = Array.from({ length: 100 }, () => `${'w'.repeat(8 << 10)}\n`)
  const writes = lines.map((line) => agent.write(line))
  await expect.poll(async () => ((await keeper.list())[0]?.keptBytes ?? 0) > 64 << 10).toBe(true)
  let stdin = 0
  const done = Promise.all(writes.map(async (write) => write)).then(() => 'all')
  const size = lines.join('').length
  while (stdin < size) {
    await expect.poll(async () => (stdin += (await keeper.list())[0]?.keptBytes ?? 0) > 0).toBe(true)
    await agent.acknowledge({ stdin, stdout: 0, stderr: 0 }, '', true)
  }
  expect(await done).toBe('all')
})

test('16.1 a write to an agent that ended is dropped', async () => {
  const keeper = await opened()
  const agent = await keeper.spawn('a', program('process.exit(4)'), '')
  expect(await agent.exit).toEqual({ exitCode: 4 })
  await agent.write('lost')
  await agent.release()
  expect(await keeper.list()).toEqual([])
})

test('16.1 a killed keeper: the gateway is informed, and finds the agents by their marker', async () => {
  const folder = keeperFolder()
  const keeper = await opened({ folder })
  const launch = program('process.on("SIGPIPE", () => {}); setInterval(() => {}, 1e6)')
  const agent = await keeper.spawn('a', launch, '')
  await end(keeper.info.pid, 'SIGKILL')
  expect(await agent.lost).toEqual({ cause: 'unreachable', reason: 'the keeper has ended' })
  await expect(keeper.list()).rejects.toMatchObject({ code: 'keeper_unavailable' })
  const left = findMarkedProcesses(launch.marker)
  expect(left.map(({ pid }) => pid)).toEqual([agent.process.pid])
  await endProcesses(left, { termGraceMs: 500 })
  expect(findMarkedProcesses(launch.marker)).toEqual([])
  expect(await connectKeeper({ folder, orphanMs: 1 })).toBe(undefined)
})

test('16.1 a frozen keeper is not replaced, and answers when it goes on', async () => {
  const folder = keeperFolder()
  const keeper = await opened({ folder })
  const agent = await keeper.spawn('a', echo(), 'kept')
  process.kill(keeper.info.pid, 'SIGSTOP')
  const opening = openKeeper({ folder, orphanMs: 60_000 })
  void agent.write('from before')
  process.kill(keeper.info.pid, 'SIGCONT')
  const next = await opening
  expect(next.info.pid).toBe(keeper.info.pid)
  expect(await keeper.lost).toMatchObject({ cause: 'taken-over' })
  const adopted = await next.adopt('a')
  expect(adopted?.process).toEqual(agent.process)
})

test('16.1 SIGTERM ends what it holds, with what the agents started', async () => {
  const keeper = await opened()
  const launch = program(
    `require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { detached: true, stdio: 'ignore' }); console.log('up'); setInterval(() => {}, 1e6)`,
  )
  const agent = await keeper.spawn('a', launch, '')
  await textOf(agent, (text) => text === 'up\n')
  expect(findMarkedProcesses(launch.marker)).toHaveLength(2)
  await end(keeper.info.pid, 'SIGTERM')
  await expect.poll(() => findMarkedProcesses(launch.marker)).toEqual([])
})

test('16.1 a secret of an environment is in no file of the keeper, and not in its own environment', async () => {
  const folder = keeperFolder()
  const keeper = await opened({ folder })
  const secret = 'sk-very-secret-value'
  const launch = echo()
  await keeper.spawn('a', { ...launch, env: { ...launch.env, TOKEN: secret } }, '')
  await expect(keeper.spawn('b', { ...launch, args: [secret], cwd: '/nowhere' }, '')).rejects.toMatchObject({
    code: 'cwd_invalid',
  })
  const files = readdirSync(folder).filter((name) => !name.endsWith('.sock'))
  for (const name of files) expect(readFileSync(`${folder}/${name}`, 'utf8')).not.toContain(secret)
  for (const file of ['environ', 'cmdline'])
    expect(readFileSync(`/proc/${keeper.info.pid}/${file}`, 'utf8')).not.toContain(secret)
})

test('16.1 the identity of an agent is that of subprocess', async () => {
  const keeper = await opened()
  const agent = await keeper.spawn('a', echo(), '')
  expect(agent.process).toEqual(identify(agent.process.pid))
})

test('16.1 fifty agents cost at most 45 MB: 20 MB of the keeper itself, and its part of the program file of Node', async () => {
  const keeper = await opened()
  const agents = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      keeper.spawn(`a${n}`, program('', { command: '/bin/cat', args: [] }), 'facts'),
    ),
  )
  for (const agent of agents) void agent.write('hello\n')
  for (const agent of agents) await textOf(agent, (text) => text === 'hello\n')
  const { own, share } = memoryOf(keeper.info.pid)
  expect(own, `${own} MB`).toBeLessThanOrEqual(20)
  // This process is the other one that has the file.
  expect(share, `${share} MB`).toBeLessThanOrEqual(45)
  expect(rssOf(keeper.info.pid)).toBeLessThanOrEqual(64)
})

test('16.1 a disk without room stops the reading and loses nothing', async () => {
  const folder = keeperFolder()
  const keeper = await opened({ folder, bounds: { memoryBytes: 64 << 10 } })
  // Where files cannot be created: as root, modes do not prevent it, so the folder is gone under another name.
  const total = 1 << 20
  const agent = await keeper.spawn(
    'a',
    program(`process.stdin.once('data', () => process.stdout.write('q'.repeat(${total})))`),
    '',
  )
  const socket = connected(`${folder}/1.sock`)
  rmSync(folder, { recursive: true })
  ;(await socket).destroy()
  void agent.write('go')
  await expect.poll(async () => (await keeper.list())[0]?.stalled).toBe('disk')
  let count = 0
  for await (const chunk of agent.read('stdout', 0)) {
    count += chunk.length
    await agent.acknowledge({ stdin: 2, stdout: count, stderr: 0 }, '', true)
    if (count === total) break
  }
  expect(count).toBe(total)
})

/** In MB: what no other process has, and that with the part of what several have. */
function memoryOf(pid: number): { readonly own: number; readonly share: number } {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const mb = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(rollup)?.[1]) / 1024
  return { own: mb('Private_Clean') + mb('Private_Dirty'), share: mb('Pss') }
}

const rssOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

const readlinkOfSocketFolder = ({ info }: HomeKeeper): string =>
  readFileSync(`/proc/${info.pid}/cmdline`, 'utf8')
    .split('\0')
    .find((part) => part.endsWith('/keeper')) ?? ''
