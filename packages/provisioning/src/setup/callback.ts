import { randomBytes } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AgentprotoError, type Clock } from '@agentproto/contracts'

export interface AwaitedCallback {
  /** Query parameter that holds the value. */
  readonly param: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Called with the address that the page must redirect to. */
  readonly onListening: (callbackUrl: string) => void
}

/**
 * Listens on loopback until a page redirects to it with a value.
 * @returns undefined after the time limit
 * @throws `cancelled`
 */
export async function awaitCallback({
  param,
  timeoutMs,
  signal,
  clock,
  onListening,
}: AwaitedCallback): Promise<string | undefined> {
  // A random path, because other pages can reach this port too.
  const path = `/${randomBytes(16).toString('base64url')}`
  let settle: (value: string | undefined) => void = () => undefined
  const value = new Promise<string | undefined>((resolve) => (settle = resolve))
  const server = createServer(
    { headersTimeout: 5_000, requestTimeout: 5_000, maxHeaderSize: 16 * 1024 },
    (request, response) => {
      const given = request.method === 'GET' ? valueIn(request.url ?? '', { path, param }) : null
      answer(response, given !== null && given !== '')
      if (given !== null && given !== '') settle(given)
    },
  )
  const timer = clock.after(timeoutMs, () => settle(undefined))
  const stop = (): void => settle(undefined)
  signal.addEventListener('abort', stop, { once: true })
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
    onListening(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)
    const given = await value
    if (signal.aborted) throw new AgentprotoError('cancelled', 'The setup was cancelled')
    return given
  } finally {
    timer.cancel()
    signal.removeEventListener('abort', stop)
    server.close()
    server.closeIdleConnections()
  }
}

/** Of any request: what any page or program sends, such as `//`, must not throw where nothing catches it. */
function valueIn(target: string, { path, param }: { readonly path: string; readonly param: string }): string | null {
  return target.startsWith(`${path}?`) ? new URLSearchParams(target.slice(path.length)).get(param) : null
}

function answer(response: ServerResponse, ok: boolean): void {
  const text = ok ? 'Done. You can close this page and go back to the terminal.' : 'This is not the expected page.'
  response.writeHead(ok ? 200 : 404, {
    'content-type': 'text/plain; charset=utf-8',
    connection: 'close',
    'cache-control': 'no-store',
  })
  response.end(`${text}\n`)
}
