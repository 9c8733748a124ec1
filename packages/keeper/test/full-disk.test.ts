import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { asRecord } from '@agentproto/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { listed, nodeProgram, streamOf } from '../src/testing/keeper-subject.ts'
import { RawPeer } from '../src/testing/raw-peer.ts'
import { needs } from '../../../tooling/needs.ts'
import { connected, keeperFolder, PROGRAM } from './keeper-process.ts'

const MEMORY = 256 << 10
const DISK = 2 << 20
const TOTAL = 8 << 20
/** Each 8 bytes have their place, so that what is lost, repeated or in another order shows. */
const numbered = `const b = Buffer.alloc(1 << 16); let at = 0; (function more() { while (at < ${TOTAL}) { for (let i = 0; i < b.length; i += 8) b.writeDoubleBE(at + i, i); at += b.length; if (!process.stdout.write(Buffer.from(b))) return process.stdout.once('drain', more) } })()`

test(
  '16.1 a file system that is full while no gateway reads: the agent waits, other agents go on, and nothing is lost',
  needs('unshare'),
  async () => {
    const { root, peer } = await keeperOnSmallDisk()
    const first = await peer()
    await first.ask('spawn', nodeProgram('flood', numbered))
    first.socket.destroy()
    const look = await peer('observer')
    await expect.poll(async () => (await streamOf(look, 'flood', 'stdout'))['intake'], { timeout: 30_000 }).toBe('disk')
    expect(statfsSync(root).bavail).toBe(0)
    const { first: from, next } = await streamOf(look, 'flood', 'stdout')
    expect(from).toBe(0)
    expect(Number(next)).toBeGreaterThanOrEqual(DISK)
    expect(Number(next)).toBeLessThan(DISK + 2 * MEMORY)
    expect((await listed(look, 'flood'))['exit']).toBe(undefined)

    const second = await peer()
    await second.ask('spawn', nodeProgram('other', 'process.stdin.pipe(process.stdout)'))
    await second.ask('read', { key: 'other', stream: 'stdout', from: 0, bytes: 100 })
    await second.ask('write', { key: 'other', at: 0 }, Buffer.from('on'))
    expect((await second.bytes('stdout', 2)).toString()).toBe('on')

    const third = await peer()
    await third.ask('read', { key: 'flood', stream: 'stdout', from: 0, bytes: TOTAL })
    for (let seen = 0; seen < TOTAL;) {
      await third.bytes('stdout', seen + 1)
      seen = third.sizeOf('stdout')
      await third.ask('acknowledge', { key: 'flood', stdin: 0, stdout: seen, stderr: 0, facts: '', busy: true })
    }
    const all = third.bytesOf('stdout')
    for (let at = 0; at < TOTAL; at += 8) if (all.readDoubleBE(at) !== at) throw new Error(`another byte at ${at}`)
    await third.pushed('end', 'stdout')
    await expect.poll(async () => (await listed(third, 'flood'))['exit']).toEqual({ exitCode: 0, signal: null })
    await third.ask('release', { key: 'flood' })
    expect(statfsSync(root).bavail).toBeGreaterThan(0)
  },
)

/** The program on a file system of its own that is nearly full. */
async function keeperOnSmallDisk() {
  const folder = keeperFolder()
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const mount = `mount -t tmpfs -o size=${DISK},mode=0700 none "$1"; exec "$2" "$3" "$1" "$4"`
  const bounds = JSON.stringify({ memoryBytes: MEMORY, fileBytes: 1 << 30 })
  const words = ['-rm', 'sh', '-ec', mount, 'sh', folder, process.execPath, PROGRAM, bounds]
  const child = spawn('unshare', words, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
  await once(child.stdout, 'data')
  const root = `/proc/${child.pid}/root${folder}`
  const secret = readFileSync(`${root}/secret`, 'latin1')
  const peer = async (role = 'controller'): Promise<RawPeer> => {
    const raw = new RawPeer(await connected(`${root}/1.sock`))
    onTestFinished(() => void raw.socket.destroy())
    const answer = await raw.ask('hello', { wire: [1], role, orphanMs: 60_000, secret })
    expect(asRecord(answer['error'])).toEqual({})
    return raw
  }
  return { root, peer }
}
