import { EventEmitter, once } from 'node:events'
import { connect, createServer, Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { FakeClock } from '../../gateway-http/test/fake-clock.ts'
import { Connection } from '../src/program/connection.ts'
import type { Answer } from '../src/program/connection.ts'
import { Refusal } from '../src/program/refusal.ts'
import { RawPeer } from '../src/testing/raw-peer.ts'
import { keeperFolder } from './keeper-process.ts'

const REFUSED = Buffer.from('refused')
const CONFIRMED = ['write', 'acknowledge', 'grant']

test('16.9 what only confirms a request is sent with what comes next, in order', async () => {
  const { connection, peer, handled } = await connected()
  const answers = CONFIRMED.map((op) => peer.ask(op))
  await once(handled, 'grant')
  expect(peer.received).toEqual([])
  connection.send({ push: 'data' })
  await peer.pushed('data')
  expect(peer.received.map(({ header }) => header['id'] ?? header['push'])).toEqual([1, 2, 3, 'data'])
  await Promise.all(answers)
})

test('16.9 what only confirms a request is sent within 5 ms where nothing else comes', async () => {
  const { clock, peer, handled } = await connected()
  const answer = peer.ask('write')
  await once(handled, 'write')
  clock.advance(5)
  await expect(answer).resolves.toMatchObject({ id: 1 })
  expect(clock.pending).toBe(0)
})

test('16.9 any other answer, and a refusal, is sent at once, with those before it', async () => {
  const { peer } = await connected()
  const first = peer.ask('write')
  await peer.ask('list')
  const second = peer.ask('acknowledge')
  await expect(peer.refusal('write', {}, REFUSED)).resolves.toBe('input_full')
  expect(peer.received.map(({ header }) => header['id'])).toEqual([1, 2, 3, 4])
  await Promise.all([first, second])
})

/** A connection of a keeper that only answers, with a clock that stands still; `handled` emits each operation. */
async function connected(): Promise<{
  connection: Connection
  peer: RawPeer
  clock: FakeClock
  handled: EventEmitter
}> {
  const [clock, handled, server] = [new FakeClock(), new EventEmitter(), createServer()]
  const path = keeperFolder('pair.sock')
  await once(server.listen(path), 'listening')
  const peer = new RawPeer(connect(path))
  const [socket]: unknown[] = await once(server, 'connection')
  if (!(socket instanceof Socket)) throw new Error('no socket')
  const answer: Answer = (_, request, body) => {
    if (body.equals(REFUSED)) throw new Refusal('input_full')
    handled.emit(request.text('op'))
    return {}
  }
  const connection = new Connection(socket, answer, { clock, helloTimer: { cancel: () => {} } })
  connection.accept('controller')
  onTestFinished(() => {
    peer.socket.destroy()
    server.close()
  })
  return { connection, peer, clock, handled }
}
