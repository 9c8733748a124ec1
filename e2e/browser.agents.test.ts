import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import { openPage } from './support/chromium.js'
import { startDaemon } from './support/daemon.js'
import { temporaryFolder } from './support/temporary-folder.js'
import { needs } from '../tooling/needs.ts'

/** The script of the page: the basic work of a web console, with `@agentproto/client` alone. */
const PAGE = `
  import { createClient } from '@agentproto/client'
  const ask = async (path, body) => (await fetch(path, { method: 'POST', body: JSON.stringify(body) })).json()
  const collect = async (items, each = () => {}) => {
    const all = []
    for await (const item of items) all.push(item), await each(all.length)
    return all
  }
  async function day() {
    const { url, token, cwd } = await ask('/where')
    const client = createClient({ url, token, locate: () => ask('/where'), reconnectMs: 300_000 })
    const { sessions } = client
    const refused = await sessions.get('unknown').catch((thrown) => thrown.code)
    const session = await sessions.start({ adapter: 'demo', cwd, idempotencyKey: 'one' })
    const again = await sessions.start({ adapter: 'demo', cwd, idempotencyKey: 'one' })
    const { text } = await sessions.promptAndWait(session.id, { prompt: 'hello' })
    const abort = new AbortController()
    const left = collect(client.watch({ signal: abort.signal }), () => abort.abort()).catch((thrown) => thrown.code)
    const events = collect(sessions.events(session.id), (count) => count === 100 && ask('/crash'))
    const lines = collect(sessions.stream(session.id))
    await sessions.prompt(session.id, { prompt: 'stream 100000 5' })
    const seqs = (await events).map(({ seq }) => seq)
    const cursors = (await lines).map(({ cursor }) => cursor)
    const { status, lastSeq } = await sessions.get(session.id)
    return { refused, same: again.id === session.id, text, left: await left, seqs, cursors, status, lastSeq }
  }
  day().then((done) => ask('/done', done), (thrown) => ask('/done', { failed: String(thrown.stack ?? thrown) }))
`

async function bundled(): Promise<string> {
  const result = await build({
    stdin: { contents: PAGE, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'esm',
    conditions: ['@agentproto/source'],
  })
  return result.outputFiles[0]?.text ?? ''
}

type Posts = Readonly<Record<string, (body: unknown) => Promise<object>>>

/** The server of the page: its document, its script, and the results that it posts. */
async function origin(script: string, posts: Posts): Promise<string> {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url: path = '' } = request
    if (method === 'POST') {
      const body: unknown = JSON.parse((await text(request)) || 'null')
      response.end(JSON.stringify((await posts[path]?.(body)) ?? {}))
    } else if (path === '/page.js') response.setHeader('content-type', 'text/javascript').end(script)
    else
      response
        .setHeader('content-type', 'text/html')
        .end('<!doctype html><script type="module" src="/page.js"></script>')
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface Day {
  readonly failed?: string
  readonly seqs?: readonly number[]
  readonly cursors?: readonly string[]
  readonly lastSeq?: number
}

test(
  'a page of another origin starts, prompts, watches and follows a session, across a crash of the gateway',
  needs('chromium'),
  async () => {
    const home = temporaryFolder('browser')
    const folder = join(home, '.agentproto')
    const started: { daemon?: Promise<Awaited<ReturnType<typeof startDaemon>>> } = {}
    let finish: (day: Day) => void = () => undefined
    const finished = new Promise<Day>((resolve) => (finish = resolve))
    const page = await origin(await bundled(), {
      async '/where'() {
        const { token } = (await started.daemon) ?? {}
        const { url } = JSON.parse(readFileSync(join(folder, 'daemon.json'), 'utf8')) as { url: string }
        return { url, token, cwd: home }
      },
      async '/crash'() {
        await (await started.daemon)?.crash()
        await (started.daemon = startDaemon({ home }))
        return {}
      },
      async '/done'(day) {
        finish(day as Day)
        return {}
      },
    })
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ allowedOrigins: [page], keeper: false }))
    await (started.daemon = startDaemon({ home }))
    openPage(page)
    const { seqs = [], cursors = [], ...day } = await finished
    expect(day).toEqual({
      refused: 'session_not_found',
      same: true,
      text: 'echo: hello',
      left: 'cancelled',
      status: 'error',
      lastSeq: seqs.length,
    })
    expect(seqs.length).toBeGreaterThan(100)
    expect(seqs).toEqual(seqs.map((_, index) => index + 1))
    expect(cursors.length).toBeGreaterThan(50)
    expect(new Set(cursors).size).toBe(cursors.length)
  },
)
