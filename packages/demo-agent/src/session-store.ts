import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { storedSessionSchema, type StoredSession } from './stored-session.js'

/** Sessions kept on disk; the longest unused go first. */
const MAX_SESSIONS = 200
/** A session that is prompted in a tight loop is written this often, in milliseconds. */
const MIN_WRITE_INTERVAL_MS = 50
const ID = /^demo-[0-9a-f-]{36}$/

/**
 * Where sessions outlive the process: one file each, because several agents may run at once and only one
 * of them owns a session. A turn is written right after its answer has left, so it costs the answer no
 * time; a second one within 50 ms waits for the rest of them. Until then SIGKILL loses it, and nothing
 * else does: every orderly end writes what is pending.
 */
export class SessionStore {
  readonly #folder = defaultFolder()
  readonly #pending = new Map<string, () => StoredSession>()
  #timer: NodeJS.Timeout | undefined
  #lastWrite = 0

  read(sessionId: string): StoredSession | undefined {
    return ID.test(sessionId) ? readStored(fileOf(this.#folder, sessionId)) : undefined
  }

  list(): readonly StoredSession[] {
    return listIds(this.#folder).flatMap((id) => readStored(fileOf(this.#folder, id)) ?? [])
  }

  /** Writes soon what `snapshot` will return then. */
  saveSoon(sessionId: string, snapshot: () => StoredSession): void {
    this.#pending.set(sessionId, snapshot)
    // A timer runs after the immediate in which the answer leaves.
    const wait = Math.max(1, this.#lastWrite + MIN_WRITE_INTERVAL_MS - performance.now())
    this.#timer ??= setTimeout(() => this.flush(), wait)
  }

  /** Writes what is pending now. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const sessions = [...this.#pending.values()].map((snapshot) => snapshot())
    this.#pending.clear()
    for (const session of sessions) writeSession(this.#folder, session)
    this.#lastWrite = performance.now()
  }
}

function defaultFolder(): string {
  const { AGENTPROTO_DEMO_HOME: own, XDG_STATE_HOME: state } = process.env
  if (own) return own
  return join(state || join(homedir(), '.local', 'state'), 'agentproto-demo')
}

const fileOf = (folder: string, sessionId: string): string => join(folder, 'sessions', `${sessionId}.json`)

function listIds(folder: string): readonly string[] {
  try {
    const names = readdirSync(join(folder, 'sessions'))
    return names.map((name) => name.replace(/\.json$/, '')).filter((id) => ID.test(id))
  } catch {
    return [] // Nothing was ever stored.
  }
}

/** A file that cannot be read counts as absent: the client gets "no such session". */
function readStored(file: string): StoredSession | undefined {
  try {
    return storedSessionSchema.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data
  } catch {
    return undefined
  }
}

/** A full or read-only disk costs the memory across restarts, not the conversation. */
function writeSession(folder: string, session: StoredSession): void {
  const file = fileOf(folder, session.sessionId)
  try {
    if (!existsSync(file)) makeRoom(folder)
    replaceFile(file, JSON.stringify(session))
  } catch (error) {
    process.stderr.write(`agentproto-demo-agent: cannot keep ${session.sessionId}: ${String(error)}\n`)
  }
}

function makeRoom(folder: string): void {
  mkdirSync(join(folder, 'sessions'), { recursive: true, mode: 0o700 })
  const files = listIds(folder).map((id) => fileOf(folder, id))
  if (files.length < MAX_SESSIONS) return
  const byUse = files.map((file) => ({ file, usedAt: usedAt(file) })).sort((a, b) => b.usedAt - a.usedAt)
  for (const { file } of byUse.slice(MAX_SESSIONS - 1)) rmSync(file, { force: true })
}

/** Another agent may just have removed the file. */
const usedAt = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0

function replaceFile(file: string, text: string): void {
  const temporary = `${file}.${process.pid}.tmp`
  writeFileSync(temporary, text, { mode: 0o600 })
  renameSync(temporary, file)
}
