import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { FakeClock } from '../../gateway-http/test/fake-clock.ts'
import { downloadBytes } from '../src/registry/download-bytes.ts'
import { hostOf } from './test-host.ts'

test('18.2 a size that its server never says is waited for no longer than its limit, whatever Node forgets meanwhile', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/agent`
  const clock = new FakeClock()
  const distribution = { way: 'binary', url, program: 'agent', format: 'raw', platform: 'linux-x86_64' } as const
  const size = downloadBytes({ ...distribution, args: [], env: {} }, hostOf({ clock }))
  await once(server, 'request')
  collectGarbage()
  clock.advance(8_000)
  expect(await size).toBeUndefined()
})

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new Error('Node collects no garbage on request')
  for (let round = 0; round < 3; round++) collect()
}
