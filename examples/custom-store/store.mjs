// Two stores on files that are only ever appended to: one journal for all session records, one file for each event log.
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { AgentprotoError } from '@agentproto/contracts'

/** Records as lines `[id, record]`, the last one of an id counts, and `[id]` ends it. @implements SessionStore */
export class JournalSessionStore {
  #path
  #records = new Map()
  #lines = 0
  #closed = false

  constructor(folder) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#path = join(folder, 'records.jsonl')
  }

  async load() {
    const problems = []
    this.#records.clear()
    for (const [index, line] of linesOf(this.#path).entries()) {
      const [id, record] = parsed(line) ?? []
      if (id === undefined) problems.push(`${this.#path}: line ${index + 1} could not be read`)
      else if (record === undefined) this.#records.delete(id)
      else this.#records.set(id, record)
    }
    // What cannot be read is kept aside, never overwritten.
    if (problems.length > 0) renameSync(this.#path, `${this.#path}.unreadable-${process.pid}`)
    this.#compact()
    const sessions = [...this.#records.values()]
    return { sessions: sessions.sort((a, b) => (a.session.startedAt < b.session.startedAt ? -1 : 1)), problems }
  }

  async save(record) {
    this.#put(JSON.stringify([record.session.id, record]))
  }

  async delete(sessionId) {
    this.#put(JSON.stringify([sessionId]))
  }

  async close() {
    this.#closed = true
  }

  #put(line) {
    if (this.#closed) throw new AgentprotoError('shutting_down', 'The session store is closed')
    appendWhole(this.#path, `${line}\n`)
    const [id, record] = JSON.parse(line)
    if (record === undefined) this.#records.delete(id)
    else this.#records.set(id, record)
    this.#lines += 1
    // A journal grows with each save: half of it has to be of use.
    if (this.#lines > 2 * this.#records.size + 1_000) this.#compact()
  }

  #compact() {
    const lines = [...this.#records].map((entry) => `${JSON.stringify(entry)}\n`)
    writeFileSync(`${this.#path}.new`, lines.join(''), { mode: 0o600 })
    renameSync(`${this.#path}.new`, this.#path)
    this.#lines = lines.length
  }
}

/** `<id>.jsonl` for each session, an event a line. @implements EventStore */
export class LineEventStore {
  #folder

  constructor(folder) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#folder = folder
  }

  async open(sessionId) {
    const path = this.#path(sessionId)
    const bytes = readFileSync(path, { flag: 'a+', mode: 0o600 })
    const ends = endsOfEvents(bytes)
    const whole = ends.at(-1)
    if (whole === bytes.length) return { log: new LineStoredLog(path, ends), repairs: [] }
    const aside = `${path}.torn-${Date.now()}`
    writeFileSync(aside, bytes.subarray(whole), { mode: 0o600 })
    truncateSync(path, whole)
    return { log: new LineStoredLog(path, ends), repairs: [`What follows event ${ends.length - 1} is in ${aside}`] }
  }

  async delete(sessionId) {
    rmSync(this.#path(sessionId), { force: true })
  }

  #path(sessionId) {
    if (/^s_[0-9a-z]+$/.test(sessionId)) return join(this.#folder, `${sessionId}.jsonl`)
    throw new AgentprotoError('session_not_found', 'That is no session id', { given: sessionId })
  }
}

class LineStoredLog {
  #path
  #ends
  #fd

  /** @param ends where each event ends in the file, from that of none, 0 */
  constructor(path, ends) {
    this.#path = path
    this.#ends = ends
    this.#fd = openSync(path, 'r')
  }

  get lastSeq() {
    return this.#ends.length - 1
  }

  async append(batch) {
    const { lastSeq } = this
    if (this.#fd === undefined) throw new AgentprotoError('storage_failed', 'The event log is closed')
    if (batch.some(({ seq }, index) => seq !== lastSeq + 1 + index)) {
      throw new AgentprotoError('storage_failed', 'A batch does not follow the log', { expected: `seq ${lastSeq + 1}` })
    }
    appendWhole(this.#path, batch.map(({ json }) => `${json}\n`).join(''))
    for (const { json } of batch) this.#ends.push(this.#ends.at(-1) + Buffer.byteLength(json) + 1)
  }

  async read(after, limit) {
    const last = Math.min(after + limit, this.lastSeq)
    if (after >= last || this.#fd === undefined) return { records: [] }
    const from = this.#ends[after]
    const bytes = Buffer.alloc(this.#ends[last] - from)
    readSync(this.#fd, bytes, 0, bytes.length, from)
    const lines = bytes.toString().split('\n').slice(0, -1)
    return { records: lines.map((json, index) => ({ seq: after + 1 + index, type: JSON.parse(json).type, json })) }
  }

  async close() {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }
}

/** Where events 1, 2, 3 … end, after the 0 of none: as far as whole lines follow each other. */
function endsOfEvents(bytes) {
  const ends = [0]
  for (;;) {
    const eol = bytes.indexOf('\n', ends.at(-1))
    if (eol < 0 || parsed(bytes.toString('utf8', ends.at(-1), eol))?.seq !== ends.length) return ends
    ends.push(eol + 1)
  }
}

/** All of it or nothing: the half line that a full disk takes would spoil the next. */
function appendWhole(path, text) {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  try {
    // One write, in the kernel before anybody sees what it says: it survives the end of this process.
    appendFileSync(path, text, { mode: 0o600 })
  } catch (cause) {
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) truncateSync(path, size)
    throw new AgentprotoError('storage_failed', `${path} could not be written`, { given: cause.message, cause })
  }
}

function linesOf(path) {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return []
  return readFileSync(path, 'utf8').split('\n').filter(Boolean)
}

function parsed(line) {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
