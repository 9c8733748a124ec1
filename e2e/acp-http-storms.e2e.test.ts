import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { STORMS, watchMemory } from './support/acp-storms.js'
import { type Daemon, startDaemon } from './support/daemon.js'
import { HELLO, initializedHttp, initializedSocket } from './support/raw-acp.js'
import { temporaryFolder } from './support/temporary-folder.js'

// The storms of `acp-attacks` by POST, from clients that read all that comes: with a stream for each session, and with one for all.

const POSTS = 4_000
/** Requests that are on their way at once. */
const AT_ONCE = 32

type Headers = Readonly<Record<string, string>>

/** A client of HTTP that keeps its connections open, and nothing that it reads. */
class Attacker {
  readonly #daemon: Daemon
  readonly #agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE * 2 })
  readonly statuses = new Map<number, number>()
  headers: Headers = {}

  constructor(daemon: Daemon) {
    this.#daemon = daemon
    onTestFinished(() => this.#agent.destroy())
  }

  /** Resolves with the status, once the answer is read; that of a stream, once it begins. */
  send(method: 'GET' | 'POST', more: Headers = {}, body?: object): Promise<number> {
    const headers = {
      authorization: `Bearer ${this.#daemon.token}`,
      ...(method === 'POST' ? { 'content-type': 'application/json' } : { accept: 'text/event-stream' }),
      ...this.headers,
      ...more,
    }
    return new Promise((resolve, reject) => {
      const sent = request(`${this.#daemon.url}/acp`, { method, headers, agent: this.#agent }, (response) => {
        const { statusCode = 0 } = response
        response.on('error', () => undefined).resume()
        if (method === 'GET') resolve(statusCode)
        else response.once('close', () => resolve(statusCode))
      })
      sent.once('error', reject).end(body && JSON.stringify(body))
    })
  }

  /** @param headers Of each of them */
  async storm(messageOf: (at: number) => object, headers: Headers): Promise<void> {
    let at = 0
    const sender = async (): Promise<void> => {
      while (at < POSTS) {
        const status = await this.send('POST', headers, messageOf(at++)).catch(() => 0)
        this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, sender))
  }
}

const resume = (sessionId: string, cwd: string): object => ({
  jsonrpc: '2.0',
  id: 'first',
  method: 'session/resume',
  params: { sessionId, cwd, mcpServers: [] },
})

/** The two ways to speak ACP by POST. Each returns what its requests about a session have beside. */
const DIALECTS: Readonly<Record<string, (attacker: Attacker, daemon: Daemon, sessionId: string) => Promise<Headers>>> =
  {
    async 'with a stream for each session'(attacker, daemon, sessionId) {
      attacker.headers = await initializedHttp(daemon)
      const ofSession = { 'acp-session-id': sessionId }
      expect(await attacker.send('GET')).toBe(200)
      expect(await attacker.send('GET', ofSession)).toBe(200)
      return ofSession
    },
    async 'with one stream'(attacker) {
      attacker.headers = { 'acp-client-id': randomUUID() }
      expect(await attacker.send('GET')).toBe(200)
      expect(await attacker.send('POST', {}, { jsonrpc: '2.0', id: 0, method: 'initialize', params: HELLO })).toBe(202)
      return {}
    },
  }

const cases = Object.entries(DIALECTS).flatMap(([dialect, open]) =>
  Object.entries(STORMS).map(([storm, messageOf]) => [dialect, storm, open, messageOf] as const),
)

test.each(cases)(
  'F75 POST %s: a storm %s takes no memory that grows, prints nothing, and others are served',
  async (dialect, storm, open, messageOf) => {
    const home = temporaryFolder('storm')
    const gateway = await startDaemon({ home, keeper: false })
    const { id } = await gateway.client.sessions.start({ adapter: 'demo', cwd: home })
    const attacker = new Attacker(gateway)
    const headers = await open(attacker, gateway, id)
    expect(await attacker.send('POST', headers, resume(id, home))).toBe(202)
    const other = await initializedSocket(gateway)
    const printed = gateway.printed().length
    const memory = watchMemory(gateway.pid)
    const isOver = attacker.storm(messageOf(id), headers).then(() => true)
    let slowest = 0
    while (!(await Promise.race([isOver, new Promise((resolve) => setTimeout(resolve, 100, false))]))) {
      const began = performance.now()
      expect(await other.ask('session/list')).toHaveProperty('result')
      slowest = Math.max(slowest, performance.now() - began)
    }
    expect(await other.ask('session/list')).toHaveProperty('result')
    expect([...attacker.statuses]).toEqual([[202, POSTS]])
    expect(slowest).toBeLessThan(20_000)
    expect(memory.beyond()).toBeLessThan(150)
    expect(gateway.printed().slice(printed)).toBe('')
  },
  120_000,
)
