import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { event, fakeGateway, sse, stopped } from './fake-gateway.js'

const ENTRY = `
  import { createClient } from '@agentproto/client'
  globalThis.seqs = async (url) => {
    const seqs = []
    for await (const { seq } of createClient({ url, token: 't' }).sessions.events('s1')) seqs.push(seq)
    return JSON.stringify(seqs)
  }
`

async function bundled(): Promise<string> {
  const result = await build({
    stdin: { contents: ENTRY, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    // A built-in module of Node would fail the build: the browser has none.
    platform: 'browser',
    format: 'iife',
    conditions: ['@agentproto/source'],
  })
  return result.outputFiles[0]?.text ?? ''
}

test('bundled for a browser it holds nothing of Node and follows a stream with what a browser has', async () => {
  let calls = 0
  const gateway = await fakeGateway((_, response) => {
    if (++calls === 1) sse(response).write(event(1), () => response.destroy())
    else sse(response).end(event(1) + event(2) + stopped(3))
  })
  const code = await bundled()
  expect(code).not.toMatch(/["']node:/)
  const { fetch, TextDecoder, URLSearchParams, AbortController, setTimeout, clearTimeout } = globalThis
  // No process, Buffer, require or setImmediate in here.
  const page = createContext({ fetch, TextDecoder, URLSearchParams, AbortController, setTimeout, clearTimeout })
  runInContext(code, page)
  const seqs = runInContext('seqs', page) as (url: string) => Promise<string>
  expect(await seqs(gateway.url)).toBe('[1,2,3]')
})
