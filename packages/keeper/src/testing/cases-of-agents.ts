import assert from 'node:assert/strict'
import { asRecord } from '@agentproto/contracts'
import { echo, listed, nodeProgram, SMALL, streamOf } from './keeper-subject.js'
import type { KeeperCases } from './keeper-subject.js'

const WINDOW = 4 << 20

/** What is done with agents. */
export const AGENT_CASES: KeeperCases = {
  'a repeated spawn is the same agent': async (world) => {
    const peer = await world.peer()
    const spawned = await Promise.all([peer.ask('spawn', echo('a')), peer.ask('spawn', echo('a'))])
    const [first, second] = spawned.map(({ agent }) => asRecord(agent)['pid'])
    assert.equal(typeof first, 'number')
    assert.equal(first, second)
  },
  'a program that cannot be started is refused with the reason, and its key is free': async (world) => {
    const peer = await world.peer()
    const answer = await peer.ask('spawn', { ...echo('a'), command: '/nowhere/at-all' })
    assert.deepEqual(answer['error'], { code: 'spawn_failed', errno: 'ENOENT' })
    assert.equal(
      await peer.refusal('spawn', { ...echo('a'), cwd: '/nowhere' }),
      process.platform === 'linux' ? 'cwd_invalid' : 'spawn_failed',
    )
    assert.equal((await peer.ask('spawn', echo('a')))['error'], undefined)
  },
  'the arguments, the environment and the folder are exactly what was given': async (world) => {
    const peer = await world.peer()
    const program = nodeProgram(
      'a',
      'process.stdout.write(JSON.stringify([process.argv.slice(1), process.env.A, process.cwd(), Object.keys(process.env).length]))',
    )
    const odd = ['$HOME', '; echo x', 'a b', '"q"']
    await peer.ask('spawn', {
      ...program,
      args: ['-e', String(Object(program['args'])[1]), ...odd],
      env: { A: 'ä\n=1' },
      cwd: '/',
    })
    await peer.ask('read', { key: 'a', stream: 'stdout', from: 0, bytes: WINDOW })
    await peer.pushed('end', 'stdout')
    assert.deepEqual(JSON.parse(peer.bytesOf('stdout').toString()), [odd, 'ä\n=1', '/', 1])
  },
  'a write is delivered once: at the offset that comes next, and at no other': async (world) => {
    const peer = await world.peer()
    await peer.ask('spawn', echo('a'))
    await peer.ask('read', { key: 'a', stream: 'stdout', from: 0, bytes: WINDOW })
    assert.equal((await peer.ask('write', { key: 'a', at: 0 }, Buffer.from('one')))['next'], 3)
    const again = await peer.ask('write', { key: 'a', at: 0 }, Buffer.from('one'))
    assert.deepEqual(again['error'], { code: 'offset_invalid', next: 3 })
    assert.equal(await peer.refusal('write', { key: 'a', at: 4 }, Buffer.from('gap')), 'offset_invalid')
    await peer.ask('write', { key: 'a', at: 3 }, Buffer.from('two'))
    assert.equal((await peer.bytes('stdout', 6)).toString(), 'onetwo')
  },
  'what was accepted for stdin can be read again': async (world) => {
    const peer = await world.peer()
    await peer.ask('spawn', echo('a'))
    await peer.ask('write', { key: 'a', at: 0 }, Buffer.from('hello'))
    peer.socket.destroy()
    const next = await world.peer()
    await next.ask('read', { key: 'a', stream: 'stdin', from: 1, bytes: WINDOW })
    assert.equal((await next.bytes('stdin', 4)).toString(), 'ello')
  },
  'no more is sent than is granted': async (world) => {
    const peer = await world.peer()
    await peer.ask('spawn', echo('a'))
    await peer.ask('write', { key: 'a', at: 0 }, Buffer.from('0123456789'))
    await peer.ask('read', { key: 'a', stream: 'stdout', from: 0, bytes: 4 })
    assert.equal((await peer.bytes('stdout', 4)).toString(), '0123')
    await peer.ask('list')
    assert.equal(peer.bytesOf('stdout').length, 4)
    await peer.ask('grant', { key: 'a', stream: 'stdout', bytes: 100 })
    assert.equal((await peer.bytes('stdout', 10)).toString(), '0123456789')
  },
  'acknowledged bytes are forgotten and the facts stored, both or neither': async (world) => {
    const peer = await world.peer()
    await peer.ask('spawn', { ...echo('a'), facts: 'first' })
    await peer.ask('write', { key: 'a', at: 0 }, Buffer.from('abc'))
    await peer.ask('read', { key: 'a', stream: 'stdout', from: 0, bytes: WINDOW })
    await peer.bytes('stdout', 3)
    const tooMuch = { key: 'a', stdin: 3, stdout: 4, stderr: 0, facts: 'second', busy: true }
    assert.equal(await peer.refusal('acknowledge', tooMuch), 'offset_invalid')
    assert.equal((await listed(peer, 'a'))['facts'], 'first')
    assert.equal((await streamOf(peer, 'a', 'stdin'))['first'], 0)
    await peer.ask('acknowledge', { ...tooMuch, stdout: 2 })
    const agent = await listed(peer, 'a')
    assert.deepEqual([agent['facts'], agent['busy']], ['second', true])
    assert.equal((await streamOf(peer, 'a', 'stdout'))['first'], 2)
    assert.equal(await peer.refusal('read', { key: 'a', stream: 'stdout', from: 1, bytes: 1 }), 'offset_invalid')
    assert.equal(
      await peer.refusal('acknowledge', { ...tooMuch, facts: 'x'.repeat((256 << 10) + 1) }),
      'invalid_request',
    )
  },
  'an agent that does not read refuses what is too much, and gets the rest when it reads': async (world) => {
    const peer = await world.peer()
    await peer.ask(
      'spawn',
      nodeProgram(
        'a',
        'process.on("SIGUSR2", () => process.stdin.pipe(process.stdout)); setInterval(() => {}, 1e6); process.stdout.write("up\\n")',
      ),
    )
    await peer.ask('read', { key: 'a', stream: 'stdout', from: 0, bytes: WINDOW })
    await peer.bytes('stdout', 3)
    const half = Buffer.alloc(SMALL.queueBytes / 2, 'x')
    let at = 0
    let refused: unknown
    for (let writes = 0; writes < 64 && refused === undefined; writes += 1) {
      const answer = await peer.ask('write', { key: 'a', at }, half)
      if (answer['error'] === undefined) at += half.length
      else refused = asRecord(answer['error'])['code']
    }
    assert.equal(refused, 'input_full')
    assert.equal((await streamOf(peer, 'a', 'stdin'))['next'], at)
    await peer.ask('signal', { key: 'a', signal: 'SIGUSR2' })
    await peer.next(({ header }) => header['push'] === 'delivered' && header['upTo'] === at)
    assert.equal((await listed(peer, 'a'))['delivered'], at)
    await peer.bytes('stdout', 3 + at)
  },
  'stdin is closed, the exit is kept until it is released': async (world) => {
    const peer = await world.peer()
    await peer.ask('spawn', nodeProgram('a', 'process.stdin.resume().on("end", () => process.exit(7))'))
    assert.equal(await peer.refusal('release', { key: 'a' }), 'agent_running')
    await peer.ask('close-input', { key: 'a' })
    assert.deepEqual((await peer.pushed('exit'))['exit'], { exitCode: 7, signal: null })
    assert.equal(await peer.refusal('write', { key: 'a', at: 0 }, Buffer.from('x')), 'input_closed')
    peer.socket.destroy()
    const next = await world.peer()
    assert.deepEqual((await listed(next, 'a'))['exit'], { exitCode: 7, signal: null })
    assert.equal((await next.ask('signal', { key: 'a', signal: 'SIGTERM' }))['sent'], false)
    await next.ask('release', { key: 'a' })
    assert.equal(await next.refusal('release', { key: 'a' }), 'unknown_agent')
  },
  'a signal reaches the whole group': async (world) => {
    const peer = await world.peer()
    const program = `const { spawn } = require('node:child_process'); spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'inherit' }); process.stdout.write('up\\n')`
    await peer.ask('spawn', nodeProgram('a', program))
    await peer.ask('read', { key: 'a', stream: 'stdout', from: 0, bytes: WINDOW })
    await peer.bytes('stdout', 3)
    assert.equal(await peer.refusal('signal', { key: 'a', signal: 'SIGNOTHING' }), 'invalid_request')
    assert.equal((await peer.ask('signal', { key: 'a', signal: 'SIGKILL' }))['sent'], true)
    assert.deepEqual((await peer.pushed('exit'))['exit'], { exitCode: null, signal: 'SIGKILL' })
    // The child holds the pipe as long as it lives.
    await peer.pushed('end', 'stdout')
  },
}
