import { readFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { type Client, createClient, type ConnectionState, type OutputItem, type SessionEvent } from '@agentproto/client'
import { expect, test } from 'vitest'
import { startDaemon, type Daemon } from './support/daemon.js'
import { temporaryFolder } from './support/temporary-folder.js'

const FAST = 470
const SLOW = 20
const VANISHING = 10

/** Reads a stream to its end and keeps the ids of its messages. */
interface Subscriber {
  readonly ids: number[]
  readonly response: IncomingMessage
  readonly ended: Promise<unknown>
}

async function subscribe({ url, token }: Daemon, id: string): Promise<Subscriber> {
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${token}` }
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${url}/sessions/${id}/events`, { agent: false, headers }, resolve).on('error', reject)
  })
  response.setEncoding('utf8')
  const ids: number[] = []
  const ended = new Promise((resolve) => response.on('close', resolve))
  response.on('error', () => undefined)
  return { ids, response, ended }
}

function read({ response, ids }: Subscriber): void {
  let rest = ''
  response.on('data', (chunk: string) => {
    const messages = (rest + chunk).split('\n\n')
    rest = messages.pop() ?? ''
    for (const message of messages) {
      const id = /^id: (\d+)$/m.exec(message)?.[1]
      if (id !== undefined) ids.push(Number(id))
    }
  })
}

test('500 subscribers of one session each get every event; slow and disconnected ones do not affect the others', async () => {
  const daemon = await startDaemon({ home: temporaryFolder('fan-out') })
  const { sessions } = daemon.client
  const { id } = await sessions.start({ adapter: 'demo', cwd: temporaryFolder('cwd') })
  const all = await Promise.all(Array.from({ length: FAST + SLOW + VANISHING }, () => subscribe(daemon, id)))
  const fast = all.slice(0, FAST)
  const slow = all.slice(FAST, FAST + SLOW)
  fast.forEach(read)
  for (const { response } of all.slice(FAST + SLOW)) response.once('data', () => response.destroy())
  // The slow ones are not read before the last event.
  await sessions.promptAndWait(id, { prompt: 'flood 800' })
  slow.forEach(read)
  await sessions.kill(id)
  await Promise.all([...fast, ...slow].map(({ ended }) => ended))
  const { lastSeq } = await sessions.get(id)
  const expected = Array.from({ length: lastSeq }, (_, index) => index + 1)
  expect(lastSeq).toBeGreaterThan(5)
  for (const { ids } of [...fast, ...slow]) expect(ids).toEqual(expected)
})

/** A client that finds the gateway of the home after a restart at another address. */
function locatingClient(home: string, { url, token }: Daemon): Client {
  const locate = async (): Promise<{ url: string; token: string }> => {
    const record = JSON.parse(readFileSync(join(home, '.agentproto', 'daemon.json'), 'utf8')) as { url: string }
    return { url: record.url, token }
  }
  return createClient({ url, token, locate, reconnectMs: 300_000 })
}

/** Counts events until the session ends, and calls back on the way. */
async function collect<T>(items: AsyncIterable<T>, at: number, happen: () => void): Promise<T[]> {
  const collected: T[] = []
  for await (const item of items) {
    collected.push(item)
    if (collected.length === at) happen()
  }
  return collected
}

test('followers continue without loss or repetition after the gateway is killed and restarted at another address', async () => {
  const home = temporaryFolder('restart')
  const first = await startDaemon({ home, keeper: false })
  const client = locatingClient(home, first)
  const { id } = await client.sessions.start({ adapter: 'demo', cwd: home })
  const states: ConnectionState[] = []
  let restarted: Promise<Daemon> | undefined
  const restart = (): void => void (restarted ??= first.crash().then(() => startDaemon({ home })))
  const onState = (state: ConnectionState): void => void states.push(state)
  const events: Promise<SessionEvent[]> = collect(client.sessions.events(id, { onState }), 200, restart)
  const lines: Promise<OutputItem[]> = collect(client.sessions.stream(id), 200, restart)
  await client.sessions.prompt(id, { prompt: 'stream 100000 1' })

  const seqs = (await events).map(({ seq }) => seq)
  const cursors = (await lines).map(({ cursor }) => cursor)
  const second = await restarted
  expect(second?.url).not.toBe(first.url)
  expect(seqs).toEqual(seqs.map((_, index) => index + 1))
  expect(seqs.length).toBe((await client.sessions.get(id)).lastSeq)
  expect(new Set(cursors).size).toBe(cursors.length)
  const said = (await lines).flatMap((item) =>
    item.type === 'line' ? (/^chunk (\d+)$/.exec(item.line.line)?.[1] ?? []) : [],
  )
  expect(said).toEqual(said.map((_, index) => String(index + 1)))
  expect((await events).at(-1)).toMatchObject({ type: 'session-stopped', stopReason: 'agent_crashed' })
  const kinds = states.map(({ state }) => state)
  expect([kinds[0], kinds[1], kinds.at(-1)]).toEqual(['connected', 'reconnecting', 'connected'])
  expect(states.at(-1)?.url).toBe(second?.url)
})

test('500 followers across a crash and a restart, fast, slow and disconnecting, get each event once', async () => {
  const home = temporaryFolder('fan-out-restart')
  const first = await startDaemon({ home, keeper: false })
  const client = locatingClient(home, first)
  const { id } = await client.sessions.start({ adapter: 'demo', cwd: home })
  let restarted: Promise<Daemon> | undefined
  const restart = (): Promise<Daemon> => (restarted ??= first.crash().then(() => startDaemon({ home })))

  let connected = 0
  const follow = async (kind: 'fast' | 'slow' | 'vanishing'): Promise<readonly number[]> => {
    const seqs: number[] = []
    let isNew = true
    const onState = (): void => {
      connected += isNew ? 1 : 0
      isNew = false
    }
    for await (const { seq } of client.sessions.events(id, { onState })) {
      seqs.push(seq)
      if (kind === 'vanishing' && seqs.length === 20) break
      if (seqs.length !== 100) continue
      // The first one that gets this far kills the gateway; the slow ones continue after the restart.
      const back = restart()
      if (kind === 'slow') await back
    }
    return seqs
  }
  const following = [
    ...Array.from({ length: FAST }, () => follow('fast')),
    ...Array.from({ length: SLOW }, () => follow('slow')),
    ...Array.from({ length: VANISHING }, () => follow('vanishing')),
  ]
  // A first connection that fails is not retried.
  await expect.poll(() => connected, { timeout: 120_000 }).toBe(following.length)
  // Its answer is longer than the gateway lives: the session ends with its gateway.
  await client.sessions.prompt(id, { prompt: 'stream 100000 5' })
  const all = await Promise.all(following)
  expect((await restarted)?.url).not.toBe(first.url)
  const { lastSeq, status } = await client.sessions.get(id)
  expect(status).toBe('error')
  expect(lastSeq).toBeGreaterThan(100)
  const whole = Array.from({ length: lastSeq }, (_, index) => index + 1)
  for (const seqs of all.slice(0, FAST + SLOW)) expect(seqs).toEqual(whole)
  for (const seqs of all.slice(FAST + SLOW)) expect(seqs).toEqual(whole.slice(0, 20))
})
