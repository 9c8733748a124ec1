// A home with many stored sessions, the last of which has a long log.
import { createWriteStream } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startDaemon, startSession } from './gateway.mjs'

/**
 * @param options `stored` sessions in the home, `events` in the log of the last of them; `bodyOf` makes those that are added
 * @returns the id of the last one
 */
export async function buildHome({ home, cwd, stored, events, bodyOf = tokenOf }) {
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
  await lengthen({ home, id, record, log }, { events, bodyOf })
  return id
}

/** One real session: what its agent and its turns look like is not made up. */
async function sample(home, cwd) {
  const { http, stop } = await startDaemon(home, cwd)
  const id = await startSession(http, cwd)
  for (const prompt of ['hello', 'write a.txt', 'flood 30'])
    await http.call('POST', `/sessions/${id}/prompt`, { prompt, wait: true })
  await stop()
  const read = (name) => readFile(join(home, 'sessions', id, name), 'utf8')
  return { record: JSON.parse(await read('meta.json')), log: await read('events.jsonl') }
}

/** By default one turn of a million deltas is behind what the session has. */
const tokenOf = (seq) => ({ turn: 3, type: 'text-delta', text: `token ${seq} of an answer\n` })

async function lengthen({ home, id, record, log }, { events, bodyOf }) {
  const first = log.split('\n').length
  const file = createWriteStream(join(home, 'sessions', id, 'events.jsonl'), { flags: 'a' })
  for (let seq = first; seq <= events; seq += 1) {
    const text = JSON.stringify({ seq, ts: '2026-01-01T00:00:00.000Z', sessionId: id, ...bodyOf(seq) })
    if (!file.write(`${text}\n`)) await new Promise((resolve) => file.once('drain', resolve))
  }
  await new Promise((resolve) => file.end(resolve))
  const session = { ...record.session, lastSeq: events }
  await writeFile(join(home, 'sessions', id, 'meta.json'), JSON.stringify({ ...record, session }))
}
