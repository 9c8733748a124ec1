// A home that has seen much: ten thousand stored sessions, one of them with a million events. How long a boot takes, a list,
// and a replay from the disk, and what memory they need. `node benches/big-home.mjs [--quick]` for these figures alone.
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median, now, rss, timeEach } from './measure.mjs'
import { startDaemon } from './over-http.mjs'

/** @param options `stored` sessions in the home, `events` in the log of the last of them */
export async function benchBigHome({ home, cwd, stored, events }) {
  const long = await buildHome({ home, cwd, stored, events })
  const unindexedMs = await bootWithoutIndex(home, cwd)
  const daemon = await startDaemon(home, cwd)
  const { http, pid, startMs } = daemon
  const bootRss = rss(pid)
  const list = (query) => http.call('GET', `/sessions?limit=1000${query}`)
  const listMs = median(await timeEach(20, 5, () => http.call('GET', '/sessions')))
  const filterMs = median(await timeEach(20, 5, () => list('&label=none')))
  const allMs = median(await timeEach(5, 1, () => walk(list, stored)))
  const listRss = rss(pid)
  const replay = await replayPages(http, long, events)
  const peak = watchRss(pid)
  const streamed = await replayStream(http, long, events)
  const replayRss = peak.stop()
  await daemon.stop()
  return { bootMs: startMs, unindexedMs, bootRss, listMs, filterMs, allMs, listRss, replay, streamed, replayRss }
}

/** Every page of the list, by its cursors. */
async function walk(list, stored) {
  let seen = 0
  for (let after = ''; ;) {
    const page = await list(after)
    seen += page.sessions.length
    if (page.nextCursor === undefined) break
    after = `&after=${page.nextCursor}`
  }
  if (seen !== stored) throw new Error(`${seen} of ${stored} sessions were listed`)
}

/** As after a crash in the middle of things: each record is read from its folder. */
async function bootWithoutIndex(home, cwd) {
  await rm(join(home, 'sessions.json'))
  const { startMs, stop } = await startDaemon(home, cwd)
  await stop()
  return startMs
}

async function buildHome({ home, cwd, stored, events }) {
  const { record, log } = await sample(home, cwd)
  const { id } = record.session
  const idOf = (n) => `s_${String(n).padStart(14, '0')}`
  for (let n = 1; n < stored; n += 1) {
    const folder = join(home, 'sessions', idOf(n))
    await mkdir(folder)
    const startedAt = new Date(Date.parse('2026-01-01T00:00:00.000Z') + n * 60_000).toISOString()
    const text = JSON.stringify({ ...record, session: { ...record.session, startedAt, title: `task ${n}` } })
    await writeFile(join(folder, 'meta.json'), text.replaceAll(id, idOf(n)))
    await writeFile(join(folder, 'events.jsonl'), log.replaceAll(id, idOf(n)))
  }
  await lengthen({ home, id, record, log }, events)
  return id
}

/** One real session: what its agent and its turns look like is not made up. */
async function sample(home, cwd) {
  const { http, stop } = await startDaemon(home, cwd)
  const { id } = await http.call('POST', '/sessions/agent', { adapter: 'demo', cwd })
  for (const prompt of ['hello', 'write a.txt', 'flood 30'])
    await http.call('POST', `/sessions/${id}/prompt`, { prompt, wait: true })
  await stop()
  const read = (name) => readFile(join(home, 'sessions', id, name), 'utf8')
  return { record: JSON.parse(await read('meta.json')), log: await read('events.jsonl') }
}

/** One turn of a million deltas behind what the session has. */
async function lengthen({ home, id, record, log }, events) {
  const first = log.split('\n').length
  const file = createWriteStream(join(home, 'sessions', id, 'events.jsonl'), { flags: 'a' })
  for (let seq = first; seq <= events; seq += 1) {
    const text = JSON.stringify({
      seq,
      ts: '2026-01-01T00:00:00.000Z',
      sessionId: id,
      turn: 3,
      type: 'text-delta',
      text: `token ${seq} of an answer\n`,
    })
    if (!file.write(`${text}\n`)) await new Promise((resolve) => file.once('drain', resolve))
  }
  await new Promise((resolve) => file.end(resolve))
  const session = { ...record.session, lastSeq: events }
  await writeFile(join(home, 'sessions', id, 'meta.json'), JSON.stringify({ ...record, session }))
}

async function replayPages(http, id, events) {
  const began = now()
  let seen = 0
  for (let after = 0; after < events;) {
    const page = await http.call('GET', `/sessions/${id}/events?after=${after}&limit=10000`)
    seen += page.events.length
    after = page.nextAfter
  }
  if (seen !== events) throw new Error(`${seen} of ${events} events were read`)
  return (seen / (now() - began)) * 1_000
}

/** Counted by the empty line behind each message, so that the reader is not what is measured. */
async function replayStream(http, id, events) {
  const began = now()
  let seen = 0
  let last = 0
  let done
  const all = new Promise((resolve) => (done = resolve))
  const stream = await http.stream(`/sessions/${id}/events?after=0`, (chunk) => {
    if (last === NEWLINE && chunk[0] === NEWLINE) seen += 1
    for (let at = chunk.indexOf('\n\n'); at >= 0; at = chunk.indexOf('\n\n', at + 2)) seen += 1
    last = chunk.at(-1)
    if (seen >= events) done()
  })
  stream.response.once('close', done)
  await all
  stream.close()
  return (events / (now() - began)) * 1_000
}

const NEWLINE = 10

function watchRss(pid) {
  let peak = rss(pid)
  const timer = setInterval(() => (peak = Math.max(peak, rss(pid))), 50)
  return {
    stop: () => {
      clearInterval(timer)
      return peak
    },
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = await mkdtemp(join(tmpdir(), 'agentproto-bench-'))
  const size = process.argv.includes('--quick')
    ? { stored: 500, events: 50_000 }
    : { stored: 10_000, events: 1_000_000 }
  try {
    console.log(await benchBigHome({ home: join(root, 'home'), cwd: root, ...size }))
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}
