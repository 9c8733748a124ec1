import { build } from 'esbuild'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { openConsole } from './support/console.js'
import { startGateway } from './support/gateway.js'
import { startLoopbackServer } from './support/loopback-server.js'

// A browser cannot send a token on a WebSocket: the cookie of the console counts there, for pages of the gateway alone.

/** The SDK in a page: two turns and a permission by one wire. */
const PAGE = `
  import { client } from '@agentclientprotocol/sdk'
  import { createHttpStream } from '@agentclientprotocol/sdk/experimental/http-client'
  import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client'
  globalThis.drive = async (wire, cwd) => {
    let said = ''
    const stream = wire === 'http'
      ? createHttpStream(location.origin + '/acp/demo')
      : createWebSocketStream(location.origin.replace('http', 'ws') + '/acp/demo')
    const app = client({ name: 'page' })
      .onNotification('session/update', ({ params: { update } }) => {
        if (update.sessionUpdate === 'agent_message_chunk') said += update.content.text
      })
      .onRequest('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId: 'allow' } }))
    const connection = app.connect(stream)
    const { agent } = connection
    await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
    const { sessionId } = await agent.request('session/new', { cwd, mcpServers: [] })
    const prompt = (text) => agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })
    const ends = [await prompt('hello'), await prompt('ask ' + wire + '.txt from a page')].map(({ stopReason }) => stopReason)
    connection.close()
    return { said, ends }
  }
`

async function bundled(): Promise<string> {
  const stdin = { contents: PAGE, resolveDir: import.meta.dirname }
  const result = await build({ stdin, bundle: true, write: false, platform: 'browser', format: 'iife' })
  return result.outputFiles[0]?.text ?? ''
}

test('a page of the gateway drives an agent with its cookie, over WebSocket and HTTP', needs('chromium'), async () => {
  const gateway = await startGateway()
  await gateway.client.workspaces.add({ path: gateway.cwd, slug: 'shop' })
  const { page, problems } = await openConsole(gateway)
  // A page of the gateway whose policy lets the SDK compile its schemas.
  await page.goto(`${gateway.url}/health`)
  await page.evaluate(await bundled())
  for (const wire of ['websocket', 'http']) {
    const done = await page.evaluate(`drive('${wire}', ${JSON.stringify(gateway.cwd)})`)
    expect(done).toEqual({
      said: `echo: helloI was allowed to write ${wire}.txt.`,
      ends: ['end_turn', 'end_turn'],
    })
    expect(readFileSync(join(gateway.cwd, `${wire}.txt`), 'utf8')).toBe('from a page\n')
  }
  expect(problems).toEqual([])
})

test('a page of another origin is refused, although the browser sends the cookie', needs('chromium'), async () => {
  const gateway = await startGateway()
  const { context } = await openConsole(gateway)
  // Another port of loopback: the same site to a browser, and an origin that may call with a token.
  const others = await startLoopbackServer()
  const page = await context.newPage()
  await page.goto(
    others.put('/page', (response) => void response.setHeader('content-type', 'text/html').end('<p>Other</p>')),
  )
  const { port } = new URL(gateway.url)
  const [cookie] = await context.cookies(gateway.url)
  expect(cookie?.name).toBe(`agentproto_${port}`)
  const attempt = (path: string) => `new Promise((done) => {
    const socket = new WebSocket('ws://127.0.0.1:${port}${path}')
    socket.onopen = () => done('open')
    socket.onclose = ({ code }) => done(code)
  })`
  for (const path of ['/acp', '/acp/demo']) expect(await page.evaluate(attempt(path))).toBe(1006)
  const initialize = JSON.stringify({
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: 1, clientCapabilities: {} },
  })
  const posted = `fetch('${gateway.url}/acp', { method: 'POST', credentials: 'include', body: ${JSON.stringify(initialize)},
    headers: { 'content-type': 'application/json' } }).then(() => 'read', () => 'refused')`
  expect(await page.evaluate(posted)).toBe('refused')
  expect((await gateway.client.sessions.list()).sessions).toEqual([])
})
