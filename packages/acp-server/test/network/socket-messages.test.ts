import { EventEmitter } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { ACP_BOUNDS } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { SocketMessages } from '../../src/network/socket-messages.js'
import { FakeClock } from '../../../gateway-http/test/fake-clock.ts'

class FakeSocket extends EventEmitter {
  readonly bufferedAmount = 0
  send(): void {}
  ping(): void {}
  close(): void {}
  terminate(): void {}
}

test('a client that sends many messages at once leaves every other one its turn', async () => {
  const socket = new FakeSocket()
  const options = { limits: ACP_BOUNDS, clock: new FakeClock(), onEnd: () => undefined }
  const messages = new SocketMessages(socket, options)
  const say = (message: object): unknown => socket.emit('message', Buffer.from(JSON.stringify(message)), false)
  say({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} })
  for (let id = 2; id <= 1_000; id++) say({ jsonrpc: '2.0', id, method: 'session/list', params: {} })
  let taken = 0
  let turns = 0
  const all = (async () => {
    for await (const _ of messages.received) if (++taken === 1_000) break
  })()
  for (; taken < 1_000; turns++) await setImmediate()
  await all
  expect(turns).toBeGreaterThan(50)
})
