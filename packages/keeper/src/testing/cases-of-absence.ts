import assert from 'node:assert/strict'
import { asNumber } from '@agentproto/contracts'
import { echo, listed, nodeProgram, SMALL, streamOf } from './keeper-subject.js'
import type { KeeperCases } from './keeper-subject.js'
import type { RawPeer } from './raw-peer.js'

const WINDOW = 4 << 20
const FLOOD = 3 << 20
const flood = `const line = 'x'.repeat(1023) + '\\n'; let n = ${FLOOD / 1024}; (function more() { while (n-- > 0) if (!process.stdout.write(line)) return process.stdout.once('drain', more) })()`

/** What happens while no gateway is there, or it does not read. */
export const ABSENCE_CASES: KeeperCases = {
  'an agent goes on without a gateway, and the next one reads all of it': async (world) => {
    const older = await world.peer()
    await older.ask('spawn', echo('a'))
    const { pid } = await listed(older, 'a')
    await older.ask('write', { key: 'a', at: 0 }, Buffer.from('hello'))
    older.socket.destroy()
    const newer = await world.peer()
    assert.equal((await listed(newer, 'a'))['pid'], pid)
    await newer.ask('read', { key: 'a', stream: 'stdout', from: 0, bytes: WINDOW })
    assert.equal((await newer.bytes('stdout', 5)).toString(), 'hello')
    assert.equal((await newer.ask('write', { key: 'a', at: 5 }, Buffer.from('!')))['next'], 6)
    assert.equal((await newer.bytes('stdout', 6)).toString(), 'hello!')
  },
  'an exit while no one reads is kept with its last output': async (world) => {
    const older = await world.peer()
    await older.ask(
      'spawn',
      nodeProgram(
        'a',
        'process.stdin.once("data", () => { process.stdout.write("last\\n"); process.stderr.write("words\\n"); process.exitCode = 3; process.stdin.destroy() })',
      ),
    )
    await older.ask('write', { key: 'a', at: 0 }, Buffer.from('go'))
    older.socket.destroy()
    const newer = await world.peer()
    for (const stream of ['stdout', 'stderr']) await newer.ask('read', { key: 'a', stream, from: 0, bytes: WINDOW })
    await newer.pushed('end', 'stdout')
    await newer.pushed('end', 'stderr')
    await untilExit(newer, 'a')
    assert.equal(newer.bytesOf('stdout').toString(), 'last\n')
    assert.equal(newer.bytesOf('stderr').toString(), 'words\n')
  },
  'an agent that closes its stdout goes on': async (world) => {
    const peer = await world.peer()
    await peer.ask('spawn', nodeProgram('a', 'require("node:fs").closeSync(1); process.stdin.pipe(process.stderr)'))
    for (const stream of ['stdout', 'stderr']) await peer.ask('read', { key: 'a', stream, from: 0, bytes: WINDOW })
    await peer.pushed('end', 'stdout')
    await peer.ask('write', { key: 'a', at: 0 }, Buffer.from('on'))
    assert.equal((await peer.bytes('stderr', 2)).toString(), 'on')
  },
  'the exit does not wait for a child that holds the pipe': async (world) => {
    const peer = await world.peer()
    const program = `const { spawn } = require('node:child_process'); const c = spawn(process.execPath, ['-e', 'process.on("SIGUSR2", () => process.exit()); process.stdout.write("up"); setInterval(() => {}, 1e6)'], { stdio: ['ignore', 1, 2] }); c.unref(); process.stdout.write(c.pid + '\\n')`
    await peer.ask('spawn', nodeProgram('a', program))
    await peer.ask('read', { key: 'a', stream: 'stdout', from: 0, bytes: WINDOW })
    await peer.pushed('exit')
    await peer.next(() => peer.bytesOf('stdout').includes('up'))
    assert.equal((await streamOf(peer, 'a', 'stdout'))['ended'], false)
    process.kill(Number(/\d+/.exec(peer.bytesOf('stdout').toString())?.[0]), 'SIGUSR2')
    await peer.pushed('end', 'stdout')
  },
  'a flood is kept in memory, then in a file, then the agent waits; nothing of it is lost': async (world) => {
    const peer = await world.peer()
    await peer.ask('spawn', nodeProgram('a', flood))
    assert.equal((await peer.pushed('intake', 'stdout'))['intake'], 'full')
    const { first, next } = await streamOf(peer, 'a', 'stdout')
    assert.equal(first, 0)
    const kept = asNumber(next) ?? 0
    const bound = SMALL.memoryBytes + SMALL.fileBytes
    assert.ok(kept > bound / 2 && kept <= bound + (128 << 10), `it keeps ${kept} bytes`)
    await peer.ask('read', { key: 'a', stream: 'stdout', from: 0, bytes: FLOOD })
    for (let seen = 0; seen < FLOOD;) {
      seen = (await peer.bytes('stdout', seen + 1)).length
      await peer.ask('acknowledge', { key: 'a', stdin: 0, stdout: seen, stderr: 0, facts: '', busy: true })
    }
    await peer.pushed('end', 'stdout')
    const all = peer.bytesOf('stdout')
    assert.equal(all.length, FLOOD)
    assert.ok(all.equals(Buffer.from(`${'x'.repeat(1023)}\n`.repeat(FLOOD / 1024))))
  },
  'it ends on demand when it holds nothing, and not before': async (world) => {
    const peer = await world.peer()
    await peer.ask('spawn', echo('a'))
    assert.equal(await peer.refusal('stop'), 'agents_held')
    await peer.ask('close-input', { key: 'a' })
    await peer.pushed('exit')
    assert.equal(await peer.refusal('stop'), 'agents_held')
    await peer.ask('release', { key: 'a' })
    assert.equal((await peer.ask('stop'))['error'], undefined)
    await world.keeper.ended
  },
  'it ends soon after its last gateway when it holds nothing': async (world) => {
    const peer = await world.peer()
    peer.socket.destroy()
    await world.keeper.ended
  },
}

async function untilExit(peer: RawPeer, key: string): Promise<void> {
  const agent = await listed(peer, key)
  if (agent['exit'] === undefined) await peer.pushed('exit')
}
