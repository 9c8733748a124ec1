import { once } from 'node:events'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { mkdirSync } from 'node:fs'
import { identify } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { DEFAULT_BOUNDS } from '../src/program/bounds.ts'
import { Keeper } from '../src/program/keeper.ts'
import { echo, listed, nodeProgram } from '../src/testing/keeper-subject.ts'
import { RawPeer } from '../src/testing/raw-peer.ts'
import { FakeClock } from '../../gateway-http/test/fake-clock.ts'
import { connected, keeperFolder } from './keeper-process.ts'

const DAY = 24 * 3_600_000

async function keeperHere() {
  const folder = dirname(keeperFolder())
  mkdirSync(folder, { recursive: true })
  const clock = new FakeClock()
  const emptied: string[] = []
  const keeper = new Keeper({
    secret: Buffer.from('secret'),
    build: 'test',
    bounds: DEFAULT_BOUNDS,
    clock,
    onEmpty: () => emptied.push('empty'),
  })
  let gone: Promise<unknown> = Promise.resolve()
  const server = createServer((socket) => {
    keeper.accept(socket)
    gone = once(socket, 'close')
  }).listen(`${folder}/s`)
  await once(server, 'listening')
  onTestFinished(async () => {
    server.close()
    await keeper.endAll()
  })
  const peer = async (): Promise<RawPeer> => {
    const raw = new RawPeer(await connected(`${folder}/s`))
    onTestFinished(() => void raw.socket.destroy())
    const secret = Buffer.from('secret').toString('hex')
    await raw.ask('hello', { wire: [1], role: 'controller', orphanMs: DAY, secret })
    return raw
  }
  /** The peer goes, and the keeper has noticed it. */
  const left = async (raw: RawPeer): Promise<void> => {
    raw.socket.destroy()
    await gone
  }
  return { clock, emptied, peer, left }
}

const pidOf = async (peer: RawPeer, key: string): Promise<number> => Number((await listed(peer, key))['pid'])

test('16.1 an idle agent that no gateway serves is ended after the time that the last gateway gave', async () => {
  const { clock, emptied, peer, left } = await keeperHere()
  const gateway = await peer()
  await gateway.ask('spawn', echo('a'))
  const pid = await pidOf(gateway, 'a')
  await left(gateway)
  clock.advance(DAY - 1)
  expect(identify(pid)).toBeDefined()
  clock.advance(1)
  await expect.poll(() => identify(pid)).toBe(undefined)
  await expect.poll(() => clock.advance(DEFAULT_BOUNDS.emptyMs) ?? emptied.length).toBe(1)
})

test('16.1 an agent that works is not ended, and is forgotten when it has ended', async () => {
  const { clock, emptied, peer, left } = await keeperHere()
  const gateway = await peer()
  await gateway.ask(
    'spawn',
    nodeProgram(
      'a',
      'process.on("SIGUSR2", () => process.exit(0)); setInterval(() => {}, 1e6); process.stdout.write("up")',
    ),
  )
  await gateway.ask('read', { key: 'a', stream: 'stdout', from: 0, bytes: 10 })
  await gateway.bytes('stdout', 2)
  // Its answer comes with the next one: the clock stands still.
  void gateway.ask('acknowledge', { key: 'a', stdin: 0, stdout: 0, stderr: 0, facts: '', busy: true })
  const pid = await pidOf(gateway, 'a')
  await left(gateway)
  clock.advance(10 * DAY)
  expect(identify(pid)).toBeDefined()
  expect(emptied).toEqual([])
  process.kill(pid, 'SIGUSR2')
  await expect.poll(() => emptied.length).toBe(1)
})

test('16.1 a gateway that comes in time keeps the agents, and the time begins again when it goes', async () => {
  const { clock, peer, left } = await keeperHere()
  const first = await peer()
  await first.ask('spawn', echo('a'))
  const pid = await pidOf(first, 'a')
  await left(first)
  clock.advance(DAY - 1)
  const second = await peer()
  clock.advance(DAY)
  await left(second)
  clock.advance(DAY - 1)
  expect(identify(pid)).toBeDefined()
})

test('16.1 a keeper that holds nothing ends within a second of its last gateway, and of a start without one', async () => {
  const { clock, emptied, peer, left } = await keeperHere()
  const gateway = await peer()
  clock.advance(DAY)
  expect(emptied).toEqual([])
  await left(gateway)
  clock.advance(1_000)
  expect(emptied).toEqual(['empty'])
  const other = await keeperHere()
  other.clock.advance(DEFAULT_BOUNDS.startMs)
  expect(other.emptied).toEqual(['empty'])
})

test('16.1 an exit that no gateway has seen is kept for the next one', async () => {
  const { clock, emptied, peer, left } = await keeperHere()
  const first = await peer()
  await first.ask('spawn', nodeProgram('a', 'process.exit(3)'))
  await left(first)
  clock.advance(DAY - 1)
  const second = await peer()
  await expect.poll(async () => (await listed(second, 'a'))['exit']).toEqual({ exitCode: 3, signal: null })
  expect(emptied).toEqual([])
})
