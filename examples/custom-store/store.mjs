// Two stores with append-only files: one file for all session records, and one for each event log.
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

/** Records as lines `[id, record]`. The last line of an id is valid; `[id]` deletes its record. @implements SessionStore */
export class AppendSessionStore {
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
    // An unreadable file is moved aside, never overwritten.
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
    // The file grows with each save: rewrite it when less than half of its lines are valid.
    if (this.#lines > 2 * this.#records.size + 1_000) this.#compact()
  }

  #compact() {
    const lines = [...this.#records].map((entry) => `${JSON.stringify(entry)}\n`)
    writeFileSync(`${this.#path}.new`, lines.join(''), { mode: 0o600 })
    renameSync(`${this.#path}.new`, this.#path)
    this.#lines = lines.length
  }
}

/** `<id>.jsonl` for each session, with one event on each line. @implements EventStore */
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
    throw new AgentprotoError('session_not_found', 'This is not a session id', { given: sessionId })
  }
}

class LineStoredLog {
  #path
  #ends
  #fd

  /** @param ends the offset in the file after each event, beginning with 0 before the first */
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
    if (after >= this.lastSeq || limit < 1 || this.#fd === undefined) return { records: [] }
    // Lines that are no events stand for lost ones: those at the beginning are a gap, and before later ones a batch ends.
    let from = after
    while (from < this.lastSeq && this.#records(from, 1).length === 0) from += 1
    const gap = from > after ? { gap: { after, first: from + 1 } } : {}
    return { records: this.#records(from, limit), ...gap }
  }

  /** The events of at most so many lines after a number, up to the first line that is no event. */
  #records(after, limit) {
    const last = Math.min(after + limit, this.lastSeq)
    const from = this.#ends[after]
    const bytes = Buffer.alloc(this.#ends[last] - from)
    readSync(this.#fd, bytes, 0, bytes.length, from)
    const lines = bytes.toString().split('\n').slice(0, -1)
    const records = lines.map((json, index) => ({ seq: after + 1 + index, type: parsed(json)?.type, json }))
    const lost = records.findIndex(({ type }) => type === undefined)
    return lost < 0 ? records : records.slice(0, lost)
  }

  async close() {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }
}

/** The offset after each event, beginning with 0, up to the first line that is neither the next event nor a lost one. */
function endsOfEvents(bytes) {
  const ends = [0]
  for (;;) {
    const eol = bytes.indexOf('\n', ends.at(-1))
    const line = eol < 0 ? undefined : parsed(bytes.toString('utf8', ends.at(-1), eol))
    if (line?.seq !== ends.length && line?.lost !== true) return ends
    ends.push(eol + 1)
  }
}

/** Appends all of the text or nothing: on a full disk, half a line would corrupt the next one. */
function appendWhole(path, text) {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  try {
    // One write, which the kernel has before the event is published: it survives the end of this process.
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
