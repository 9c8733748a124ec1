import assert from 'node:assert/strict'
import { asRecord, asString } from '@agentproto/contracts'
import { startTimeOf } from '../program/process-identity.js'
import { echo, listed, nodeProgram } from './keeper-subject.js'
import type { KeeperCases } from './keeper-subject.js'
import type { RawPeer } from './raw-peer.js'

const WINDOW = 1 << 20
const LONG_MS = 3_600_000
const stubborn = `process.on('SIGTERM', () => process.stdout.write('asked ')); process.stdout.write('up '); setInterval(() => {}, 1e6)`
/** It starts a process that no group reaches, and says its pid. */
const withLeftover = `const { spawn } = require('node:child_process'); const c = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { detached: true, stdio: 'ignore' }); c.unref(); process.stdout.write(c.pid + ' '); setInterval(() => {}, 1e6)`

/** It has a command run below its own marker, in a session of its own, and says its pid. */
const withCommand = withLeftover.replace(
  'detached: true',
  "detached: true, env: { ...process.env, AGENTPROTO_SESSION_ID: process.env.AGENTPROTO_SESSION_ID + '/term_1' }",
)

/** Agents that run only as long as their gateway says so. */
export const GUARD_CASES: KeeperCases = {
  'a guarded agent is asked to end when its time has passed, then ended; its exit is kept': async (world) => {
    const peer = await world.peer()
    const marker = await started(peer, 'a', stubborn)
    await peer.bytes('stdout', 'up '.length)
    await peer.ask('guard', { markers: [marker], ms: 200, graceMs: 300 })
    await peer.pushed('exit')
    assert.equal(asRecord((await listed(peer, 'a'))['exit'])['signal'], 'SIGKILL')
    assert.match(peer.bytesOf('stdout').toString(), /asked/)
  },
  'what a guarded agent has started ends with it, also in a session of its own': async (world) => {
    // Only Linux shows the environment of a process.
    if (process.platform !== 'linux') return
    const peer = await world.peer()
    const marker = await started(peer, 'a', withLeftover)
    const [leftover] = (await peer.bytes('stdout', 2)).toString().split(' ')
    await peer.ask('guard', { markers: [marker], ms: 100, graceMs: 100 })
    await peer.pushed('exit')
    assert.equal(await hasEnded(Number(leftover)), true)
  },
  'what was started below the marker of a guarded agent ends with it': async (world) => {
    if (process.platform !== 'linux') return
    const peer = await world.peer()
    const marker = await started(peer, 'a', withCommand)
    const [command] = (await peer.bytes('stdout', 2)).toString().split(' ')
    await peer.ask('guard', { markers: [marker], ms: 100, graceMs: 100 })
    await peer.pushed('exit')
    assert.equal(await hasEnded(Number(command)), true)
  },
  'the gateway that controls is not ended, also where a guarded agent has started it': async (world) => {
    if (process.platform !== 'linux') return
    const earlier = await world.peer()
    const marker = await started(earlier, 'a', withLeftover)
    const gateway = Number((await earlier.bytes('stdout', 2)).toString().split(' ')[0])
    try {
      const peer = await world.stranger()
      await peer.ask('hello', { ...world.hello('controller'), pid: gateway })
      await peer.ask('guard', { markers: [marker], ms: 100, graceMs: 0 })
      await peer.pushed('exit')
      await pause(200)
      assert.notEqual(startTimeOf(gateway), '')
    } finally {
      process.kill(gateway, 'SIGKILL')
    }
  },
  'the last guard counts: what it names has its time, and what it does not name has none': async (world) => {
    const peer = await world.peer()
    const again = await started(peer, 'a', stubborn)
    const free = await started(peer, 'b', `setTimeout(() => process.stdout.write('late'), 900); ${stubborn}`)
    await peer.ask('guard', { markers: [again, free], ms: 300, graceMs: 0 })
    await peer.ask('guard', { markers: [again], ms: LONG_MS, graceMs: 0 })
    await peer.next(() => peer.bytesOf('stdout').includes('late'))
    for (const key of ['a', 'b']) assert.equal((await listed(peer, key))['exit'], undefined)
  },
  'a guard goes on without a gateway': async (world) => {
    const older = await world.peer()
    const marker = await started(older, 'a', stubborn)
    await older.ask('guard', { markers: [marker], ms: 300, graceMs: 0 })
    older.socket.destroy()
    const newer = await world.peer()
    if ((await listed(newer, 'a'))['exit'] === undefined) await newer.pushed('exit')
  },
  'what a guard has ended does not start before the next one': async (world) => {
    const peer = await world.peer()
    const agent = echo('a')
    const markers = [asString(agent['marker'])]
    await peer.ask('guard', { markers, ms: 0, graceMs: 0 })
    assert.equal(await peer.refusal('spawn', agent), 'guard_expired')
    assert.equal(await peer.refusal('spawn', echo('other')), undefined)
    await peer.ask('guard', { markers, ms: LONG_MS, graceMs: 0 })
    assert.equal(await peer.refusal('spawn', agent), undefined)
  },
  'a guard of too many is refused, and the one before it stays': async (world) => {
    const peer = await world.peer()
    const marker = await started(peer, 'a', stubborn)
    await peer.ask('guard', { markers: [marker], ms: 500, graceMs: 0 })
    const many = Array.from({ length: 4_097 }, (_, at) => `m${at}`)
    assert.equal(await peer.refusal('guard', { markers: many, ms: LONG_MS, graceMs: 0 }), 'invalid_request')
    await peer.pushed('exit')
  },
  'only the controller guards': async (world) => {
    await world.peer()
    const observer = await world.peer('observer')
    assert.equal(await observer.refusal('guard', { markers: [], ms: 0, graceMs: 0 }), 'not_controller')
  },
}

/** @returns its marker */
async function started(peer: RawPeer, key: string, program: string): Promise<string> {
  const agent = nodeProgram(key, program)
  await peer.ask('spawn', agent)
  await peer.ask('read', { key, stream: 'stdout', from: 0, bytes: WINDOW })
  return asString(agent['marker']) ?? ''
}

/** Within ten seconds: a process that was killed is gone when it was reaped. */
async function hasEnded(pid: number): Promise<boolean> {
  for (let looks = 0; looks < 500; looks += 1) {
    try {
      process.kill(pid, 0)
    } catch {
      return true
    }
    await pause(20)
  }
  return false
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
