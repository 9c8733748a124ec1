import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { systemClock } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { awaitCallback } from '../src/setup/callback.js'

/** Sends one request, and returns the first line of the answer. */
async function ask(callbackUrl: string, target: string): Promise<string | undefined> {
  const { port } = new URL(callbackUrl)
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)
  return (await text(socket)).split('\r\n')[0]
}

test('12.A8 no request of another page or program ends the gateway that waits for a login', async () => {
  const { signal } = new AbortController()
  let listens: (url: string) => void = () => undefined
  const listening = new Promise<string>((resolve) => (listens = resolve))
  const value = awaitCallback({
    param: 'code',
    timeoutMs: 60_000,
    signal,
    clock: systemClock,
    onListening: listens,
  })
  const url = await listening
  const { pathname } = new URL(url)
  for (const target of [
    '//',
    '//[/?code=x',
    '/\\?code=x',
    '/?code=x',
    `${pathname}/?code=x`,
    `//a${pathname}?code=x`,
    pathname,
  ])
    expect(await ask(url, target), target).toBe('HTTP/1.1 404 Not Found')
  expect(await ask(url, `${pathname}?state=a&code=b%2Bc+d?e`)).toBe('HTTP/1.1 200 OK')
  expect(await value).toBe('b+c d?e')
})
