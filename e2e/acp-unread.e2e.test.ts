import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { watchMemory } from './support/acp-storms.js'
import { type Daemon, startDaemon } from './support/daemon.js'
import { acpRequest, HELLO, initializedHttp, initializedSocket, type RawAcp } from './support/raw-acp.js'
import { temporaryFolder } from './support/temporary-folder.js'

// Streams of HTTP that nobody reads, while more comes than a gateway may keep.

type Headers = Readonly<Record<string, string>>

/** A GET whose answer is begun and never read any further. */
async function unreadStream({ url, token }: Daemon, headers: Headers): Promise<Socket> {
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  const lines = Object.entries({ host, authorization: `Bearer ${token}`, accept: 'text/event-stream', ...headers })
  socket.write(`GET /acp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
  const [first] = (await once(socket, 'data')) as [Buffer]
  socket.pause()
  expect(first.toString()).toMatch(/^HTTP\/1\.1 200 /)
  return socket
}

/** Reads a stream as far as the answer to a request, and no further. */
async function readUntilAnswer(socket: Socket, id: number): Promise<void> {
  let read = ''
  const onData = (part: Buffer): void => void (read += part.toString())
  socket.on('data', onData).resume()
  await expect.poll(() => read).toContain(`"id":${id},"result"`)
  socket.off('data', onData).pause()
}

const resumeOf = (sessionId: string, cwd: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'session/resume',
  params: { sessionId, cwd, mcpServers: [] },
})
type Resume = ReturnType<typeof resumeOf>

/** A client whose stream is open, has the answer to `session/resume` where it comes in it, and is not read any more. */
const DIALECTS: Readonly<Record<string, (daemon: Daemon, resume: Resume) => Promise<Headers>>> = {
  async 'with a stream for each session'(daemon, resume) {
    const headers = { ...(await initializedHttp(daemon)), 'acp-session-id': resume.params.sessionId }
    await unreadStream(daemon, headers)
    expect((await acpRequest(daemon, { body: resume, headers })).status).toBe(202)
    return headers
  },
  async 'with one stream'(daemon, resume) {
    const headers = { 'acp-client-id': randomUUID() }
    const socket = await unreadStream(daemon, headers)
    const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params: HELLO }
    for (const body of [initialize, resume]) {
      expect((await acpRequest(daemon, { body, headers })).status).toBe(202)
      await readUntilAnswer(socket, body.id)
    }
    return headers
  },
}

/** A message of about 200 characters is sent for each: 60 MB for each client. */
const UPDATES = 300_000

/** Counts the characters that an agent said, and keeps nothing. */
function saidTo({ heard }: RawAcp): () => number {
  let chars = 0
  heard.push = (message) => {
    const { update } = (message?.params ?? {}) as { readonly update?: Update }
    if (update?.sessionUpdate === 'agent_message_chunk') chars += update.content?.text?.length ?? 0
    return 0
  }
  return () => chars
}

interface Update {
  readonly sessionUpdate?: string
  readonly content?: { readonly text?: string }
}

/** Each update is its number and a line break. */
const CHARS = Array.from({ length: UPDATES }, (_, at) => `${at + 1}\n`.length).reduce((sum, length) => sum + length)

test.each(Object.entries(DIALECTS))(
  'HTTP %s: a GET that nobody reads while 60 MB come ends by its bound; its session goes on, and another client has all of it',
  async (_, open) => {
    const home = temporaryFolder('unread')
    const gateway = await startDaemon({ home, keeper: false })
    const { id } = await gateway.client.sessions.start({ adapter: 'demo', cwd: home })
    const resume = resumeOf(id, home)
    const other = await initializedSocket(gateway)
    await other.ask('session/resume', resume.params)
    const said = saidTo(other)
    const prompt = (words: string) => gateway.client.sessions.promptAndWait(id, { prompt: words })
    // What a gateway takes for a flood, it takes with or without a client that does not read.
    await prompt(`flood ${UPDATES}`)
    const headers = await open(gateway, resume)
    const memory = watchMemory(gateway.pid)
    expect((await prompt(`flood ${UPDATES}`)).text).toBeDefined()
    const note = { jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 'none' } }
    const isThere = async (): Promise<number> => (await acpRequest(gateway, { body: note, headers })).status
    await expect.poll(isThere, { timeout: 60_000, interval: 500 }).toBe(404)
    const { text } = await prompt('still here')
    await expect.poll(said, { timeout: 30_000 }).toBe(2 * CHARS + text.length)
    expect(await other.ask('session/list')).toHaveProperty('result')
    expect(memory.beyond()).toBeLessThan(150)
    expect(gateway.printed().trim()).toBe(gateway.url)
  },
  300_000,
)
