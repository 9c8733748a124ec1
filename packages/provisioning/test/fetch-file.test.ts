import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { systemClock } from '@agentproto/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { fetchFile } from '../src/fetch-file.ts'
import { folder, textAt } from './test-host.ts'

/** A server that answers `/file`, and redirects every other path to what its query says. */
async function redirecting() {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
    asked.push(pathname)
    if (pathname === '/file') response.end('the file')
    else response.writeHead(302, { location: searchParams.get('to') ?? '/loop' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

async function fetched(url: string): Promise<{ readonly to: string; readonly sha256: string; readonly bytes: number }> {
  const to = join(folder('fetch'), 'file')
  const signal = new AbortController().signal
  return { to, ...(await fetchFile({ url, to, maxBytes: 100, signal, clock: systemClock })) }
}

test('18.2 a download follows redirects, and says what it got', async () => {
  const { url, asked } = await redirecting()
  const { to, bytes, sha256 } = await fetched(`${url}/a?to=/file`)
  expect([textAt(to), bytes, sha256.length, asked]).toEqual(['the file', 8, 64, ['/a', '/file']])
})

test.each(['http://registry.example/x', 'ftp://registry.example/x', 'file:///etc/passwd', 'http://['])(
  '18.2 a download that is redirected to %s asks nothing there',
  async (to) => {
    const { url, asked } = await redirecting()
    await expect(fetched(`${url}/a?to=${encodeURIComponent(to)}`)).rejects.toMatchObject({ code: 'install_failed' })
    expect(asked).toEqual(['/a'])
  },
)

test('18.2 a circle of redirects ends', async () => {
  const { url, asked } = await redirecting()
  await expect(fetched(`${url}/loop`)).rejects.toThrow('more than 10 times')
  expect(asked).toHaveLength(11)
})
