import assert from 'node:assert/strict'
import { encodeFrame } from '../program/frames.js'
import type { KeeperCases } from './keeper-subject.js'

/** What a peer sends that is no request, or may not. */
export const FRAME_CASES: KeeperCases = {
  'hello is refused without the secret, and nothing else is answered': async (world) => {
    const peer = await world.stranger()
    assert.equal(await peer.refusal('list'), 'unauthorized')
    assert.equal(await peer.refusal('hello', { ...world.hello('controller'), secret: '00'.repeat(32) }), 'unauthorized')
    assert.equal(await peer.refusal('hello', { ...world.hello('controller'), secret: '' }), 'unauthorized')
    assert.equal(await peer.refusal('spawn', { key: 'x' }), 'unauthorized')
  },
  'hello is refused when no version is spoken by both, and says which are': async (world) => {
    const peer = await world.stranger()
    const answer = await peer.ask('hello', { ...world.hello('controller'), wire: [999] })
    assert.deepEqual(answer['error'], { code: 'wire_unsupported', wire: [1, 2] })
    assert.equal((await peer.ask('hello', { ...world.hello('controller'), wire: [999, 1] }))['wire'], 1)
  },
  'an unknown operation and an invalid one are refused, and the connection goes on': async (world) => {
    const peer = await world.peer()
    assert.equal(await peer.refusal('dance'), 'unknown_operation')
    assert.equal(await peer.refusal('toString'), 'unknown_operation')
    assert.equal(await peer.refusal('write', { key: 7 }), 'invalid_request')
    assert.equal(await peer.refusal('spawn', { key: 'a', command: 'a\0b' }), 'invalid_request')
    assert.equal(await peer.refusal('close-input', { key: 'none' }), 'unknown_agent')
    assert.deepEqual((await peer.ask('list'))['agents'], [])
  },
  'a frame that is no frame ends its connection, and no other': async (world) => {
    const controller = await world.peer()
    for (const bytes of [
      encodeFrame([1]),
      Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
      Buffer.from([0, 0, 0, 1, 0, 0, 0, 0, 123]),
    ]) {
      const peer = await world.stranger()
      peer.socket.write(bytes)
      await peer.closed
    }
    assert.deepEqual((await controller.ask('list'))['agents'], [])
  },
  'a frame that announces too much ends its connection before it is read': async (world) => {
    const [stranger, controller] = [await world.stranger(), await world.peer()]
    const lengths = Buffer.alloc(8)
    lengths.writeUInt32BE(2 ** 31, 4)
    for (const peer of [stranger, controller]) {
      peer.socket.write(lengths)
      assert.equal((await peer.pushed('closed'))['code'], 'frame_too_large')
      await peer.closed
    }
  },
  'a frame may come in pieces': async (world) => {
    const peer = await world.stranger()
    const frame = encodeFrame({ ...world.hello('observer'), id: 5, op: 'hello' })
    for (const byte of frame) peer.socket.write(Buffer.from([byte]))
    const { header } = await peer.next(({ header: { id } }) => id === 5)
    assert.equal(header['wire'], 2)
  },
  'an observer may list beside the controller, and nothing else': async (world) => {
    const [controller, observer] = [await world.peer(), await world.peer('observer')]
    assert.deepEqual((await observer.ask('list'))['agents'], [])
    assert.equal(await observer.refusal('stop'), 'not_controller')
    assert.equal(await observer.refusal('spawn', {}), 'not_controller')
    assert.deepEqual((await controller.ask('list'))['agents'], [])
  },
  'a newer controller displaces the older, which is informed': async (world) => {
    const older = await world.peer()
    await world.peer()
    assert.equal((await older.pushed('closed'))['code'], 'displaced')
    await older.closed
  },
}
