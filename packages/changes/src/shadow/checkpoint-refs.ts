import { AgentprotoError, asList, asNumber, asRecord, asString, defined, parseJson } from '@agentproto/contracts'
import { type Checkpoint, LEFT_OUT_REASONS, type LeftOut } from '@agentproto/contracts/agent'
import type { Git } from '../git/git.js'
import { records } from '../git/records.js'
import { LeftOutSet } from './left-out-set.js'

/** A checkpoint, and what is below it. */
export interface StoredCheckpoint {
  readonly checkpoint: Checkpoint
  /** The object with its files. */
  readonly tree: string
  /** More than the checkpoint lists. */
  readonly leftOut: LeftOutSet
  readonly ref: string
  /** Counts the checkpoints of the folder. */
  readonly number: number
}

export interface NewCheckpoint {
  readonly tree: string
  readonly leftOut: LeftOutSet
  readonly number: number
  readonly record: Omit<Checkpoint, 'id' | 'leftOut' | 'leftOutCount'>
}

/** A checkpoint that left out more does not say of a deleted path whether it existed. */
const STORED_LEFT_OUT = 1_000
/** Of their paths, in characters: an agent chooses how long these are, and all checkpoints are read at once. */
const STORED_CHARS = 32 * 1024
const LISTED_LEFT_OUT = 100

const ROOT = 'refs/checkpoints'
const SESSION = /^[A-Za-z0-9_-]{1,128}$/
const ID = /^[0-9a-f]{40}$/

/** Checkpoints are commits without parents, so that any of them can be deleted. Their message is the record as JSON. */
export class CheckpointRefs {
  readonly #git: Git
  readonly #signal: AbortSignal

  constructor(git: Git, signal: AbortSignal) {
    this.#git = git
    this.#signal = signal
  }

  async create({ tree, leftOut, number, record }: NewCheckpoint): Promise<Checkpoint> {
    const left = { leftOut: storedPaths(leftOut), leftOutCount: leftOut.count }
    const message = JSON.stringify({ version: 1, number, ...record, ...left })
    const call = { args: ['commit-tree', tree], env: identity(record.at), input: [Buffer.from(message)] }
    const id = await this.#git.text({ ...call, signal: this.#signal })
    const ref = `${ROOT}/${checkSession(record.session)}/${number}`
    await this.#git.run({ args: ['update-ref', ref, id, ''], signal: this.#signal })
    return { id, ...record, ...left, leftOut: left.leftOut.slice(0, LISTED_LEFT_OUT) }
  }

  /** Of one session or all, the oldest first. What cannot be read is left out. */
  async list(session?: string): Promise<readonly StoredCheckpoint[]> {
    const pattern = session === undefined ? ROOT : `${ROOT}/${checkSession(session)}`
    const args = ['for-each-ref', '--format=%(objectname)%00%(tree)%00%(refname)%00%(contents)%00', pattern]
    const found: StoredCheckpoint[] = []
    let fields: string[] = []
    for await (const field of records(this.#git.stream({ args, signal: this.#signal }))) {
      fields.push(field)
      if (fields.length < 4) continue
      const [id = '', tree = '', ref = '', message = ''] = fields
      fields = []
      const stored = parseStored({ id: id.trim(), tree, ref, message })
      if (stored !== undefined) found.push(stored)
    }
    return found.toSorted((a, b) => a.number - b.number)
  }

  /** @throws `checkpoint_not_found`, also for an object that is not a checkpoint */
  async find(id: string): Promise<StoredCheckpoint> {
    const found = ID.test(id) ? (await this.list()).find(({ checkpoint }) => checkpoint.id === id) : undefined
    if (found !== undefined) return found
    throw new AgentprotoError('checkpoint_not_found', 'This folder has no such checkpoint.', {
      given: id,
      hint: 'It may have been pruned with its session.',
    })
  }

  async delete(refs: readonly string[]): Promise<void> {
    const input = [Buffer.from(refs.map((ref) => `delete ${ref}\0\0`).join(''))]
    await this.#git.run({ args: ['update-ref', '-z', '--stdin'], input, signal: this.#signal })
  }
}

function storedPaths({ paths }: LeftOutSet): readonly LeftOut[] {
  let room = STORED_CHARS
  return paths.slice(0, STORED_LEFT_OUT).filter(({ path }) => (room -= path.length) >= 0)
}

/** @throws `invalid_request` */
export function checkSession(session: string): string {
  if (SESSION.test(session)) return session
  throw new AgentprotoError('invalid_request', 'The id of the session cannot be used.', {
    expected: 'at most 128 letters, digits, `_` and `-`',
    given: session,
  })
}

/** A commit needs an author; the time is that of the checkpoint. */
function identity(at: string): Readonly<Record<string, string>> {
  const date = `@${Math.trunc(Date.parse(at) / 1000)} +0000`
  const [name, email] = ['agentproto', 'agentproto@localhost']
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
    GIT_COMMITTER_DATE: date,
  }
}

interface RawCheckpoint {
  readonly id: string
  readonly tree: string
  readonly ref: string
  readonly message: string
}

function parseStored({ id, tree, ref, message }: RawCheckpoint): StoredCheckpoint | undefined {
  const record = asRecord(parseJson(message))
  const session = asString(record['session'])
  const at = asString(record['at'])
  const number = asNumber(record['number'])
  if (session === undefined || at === undefined || number === undefined) return undefined
  const leftOut = asList(record['leftOut']).flatMap(parseLeftOut)
  const count = asNumber(record['leftOutCount']) ?? leftOut.length
  const checkpoint: Checkpoint = {
    id,
    session,
    ...defined({ turn: asNumber(record['turn']), label: asString(record['label']) }),
    at,
    files: asNumber(record['files']) ?? 0,
    additions: asNumber(record['additions']) ?? 0,
    deletions: asNumber(record['deletions']) ?? 0,
    leftOut: leftOut.slice(0, LISTED_LEFT_OUT),
    leftOutCount: count,
  }
  return { checkpoint, tree, leftOut: new LeftOutSet(leftOut, count), ref, number }
}

function parseLeftOut(value: unknown): readonly LeftOut[] {
  const record = asRecord(value)
  const path = asString(record['path'])
  const reason = LEFT_OUT_REASONS.find((each) => each === record['reason'])
  return path === undefined || reason === undefined ? [] : [{ path, reason }]
}
