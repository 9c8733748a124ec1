import { realpath } from 'node:fs/promises'
import { AgentprotoError, defined } from '@agentproto/contracts'
import {
  type Abortable,
  type ChangeList,
  type Checkpoint,
  type CheckpointRequest,
  type CheckpointResult,
  type CopyRequest,
  type FolderChanges,
  NOW,
  type Patch,
  type PatchRequest,
  type PruneRequest,
  type RewindRequest,
  type RewindResult,
  type StateRef,
} from '@agentproto/contracts/agent'
import { type Limit, startLimit } from './git/abort.js'
import { asError, skipOf } from './git-errors.js'
import { folderBytes } from './folder-bytes.js'
import { Queue } from './queue.js'
import { rewindFolder } from './rewind/rewind.js'
import { boundedPatch, patchOf } from './shadow/patch.js'
import { checkPaths } from './shadow/paths.js'
import { checkSession, CheckpointRefs } from './shadow/checkpoint-refs.js'
import { advanced, knownIn, type SessionProgress, totalSince } from './shadow/session-progress.js'
import { type ShadowOptions, ShadowRepository, type Snapshot, snapshotOf } from './shadow/shadow-repository.js'
import { listChanges, totalsOf } from './shadow/tree-diff.js'
import { filterInSlices } from './slice.js'

const LISTED_FILES = 10_000
const LISTED_LEFT_OUT = 200
/** A rewind and a prune may take so many times as long as a checkpoint. */
const LONG = 5

/** The states of one folder in its shadow repository. */
export class GitFolderChanges implements FolderChanges {
  readonly folder: string
  readonly #options: ShadowOptions
  readonly #shadow: ShadowRepository
  readonly #queue = new Queue()
  /** Patches that are being read: their objects must not be pruned. */
  readonly #readers = new Set<Promise<void>>()
  /** Absent until it was read. */
  #history: History | undefined

  constructor(options: ShadowOptions) {
    this.folder = options.folder
    this.#options = options
    this.#shadow = new ShadowRepository(options)
  }

  async checkpoint(request: CheckpointRequest): Promise<CheckpointResult> {
    checkSession(request.session)
    try {
      return await this.#alone(request, async (signal) => this.#take(request, signal))
    } catch (thrown) {
      const { reason, detail } = skipOf(thrown)
      return { kind: 'skipped', reason, detail }
    }
  }

  async list(session?: string): Promise<readonly Checkpoint[]> {
    if (!(await this.#shadow.exists())) return []
    return this.#reporting({}, async (signal) => {
      const stored = await (await this.#refs(signal)).list(session)
      return stored.map(({ checkpoint }) => checkpoint)
    })
  }

  async changes(from: StateRef, to: StateRef, options: Abortable = {}): Promise<ChangeList> {
    return this.#reporting(options, async (signal) => {
      const states = [await this.#state(from, signal), await this.#state(to, signal)] as const
      return this.#compare(states, signal)
    })
  }

  diff(request: PatchRequest): Patch {
    const { maxBytes } = request
    return boundedPatch(maxBytes, () => this.#patch(request))
  }

  async rewind(request: RewindRequest): Promise<RewindResult> {
    checkSession(request.session)
    const paths = checkPaths(request.paths)
    return this.#reporting({ ...request, long: true }, async (signal) => {
      const target = await this.#recorded(request.to, signal)
      const now = await this.#now(signal)
      const before = request.dryRun === true ? undefined : await this.#before(now, request, signal)
      const git = await this.#shadow.git(signal)
      const { fileBytes } = this.#options.limits
      const plan = { folder: this.folder, now, target, paths, dryRun: request.dryRun === true, fileBytes }
      const result = await rewindFolder({ ...plan, git, shadow: this.#shadow, signal })
      return before === undefined ? result : { ...result, before }
    })
  }

  async copy({ checkpoint, into, signal: abort }: CopyRequest): Promise<RewindResult> {
    return this.#reporting({ signal: abort, long: true }, async (signal) => {
      const target = await this.#recorded(checkpoint, signal)
      const folder = await realpath(into).catch(() => into)
      const other = new ShadowRepository({ ...this.#options, folder })
      const now = await snapshotNow(other, signal)
      const git = await this.#shadow.git(signal)
      const { fileBytes } = this.#options.limits
      const plan = { folder, now, target, paths: undefined, dryRun: false, fileBytes }
      const result = await rewindFolder({ ...plan, git, shadow: other, signal })
      await other.forgetIndex()
      return result
    })
  }

  /** @returns how many checkpoints were deleted, and how many bytes that freed */
  async prune(request: PruneRequest): Promise<{ readonly checkpoints: number; readonly bytes: number }> {
    return this.#reporting({ ...request, long: true }, async (signal) => {
      const refs = await this.#refs(signal)
      const stored = await refs.list()
      const old = stored.filter(({ checkpoint }) => isPruned(checkpoint, request))
      if (old.length === 0) return { checkpoints: 0, bytes: 0 }
      this.#history = undefined
      await Promise.allSettled(this.#readers)
      const before = await folderBytes(this.#options.shadow)
      if (old.length === stored.length) await this.#shadow.delete()
      else {
        await refs.delete(old.map(({ ref }) => ref))
        await this.#shadow.collectGarbage(signal)
      }
      const after = old.length === stored.length ? 0 : await folderBytes(this.#options.shadow)
      return { checkpoints: old.length, bytes: Math.max(0, before - after) }
    })
  }

  async #take(request: CheckpointRequest, signal: AbortSignal): Promise<Taken> {
    return this.#store(await this.#shadow.snapshot(signal), request, signal)
  }

  async #store(snapshot: Snapshot, request: CheckpointRequest, signal: AbortSignal): Promise<Taken> {
    const { session, turn, label } = request
    const git = await this.#shadow.git(signal)
    const refs = new CheckpointRefs(git, signal)
    const history = await this.#loadHistory(refs)
    const before = history.sessions.get(session) ?? { first: snapshot.tree, latest: snapshot.tree }
    const compared = await listChanges(git, { from: before.latest, to: snapshot.tree, signal })
    const changed = await knownIn(snapshot.leftOut, compared)
    const at = new Date(this.#options.clock.now()).toISOString()
    const record = { session, ...defined({ turn, label }), at, ...totalsOf(changed) }
    const number = history.number + 1
    const [checkpoint, total] = await Promise.all([
      refs.create({ ...snapshot, number, record }),
      // The checkpoint stands without it.
      totalSince(git, before, { snapshot, changed, signal }).catch(() => undefined),
    ])
    history.number = number
    history.sessions.set(session, advanced(before, snapshot, total))
    return { kind: 'taken', checkpoint, ...defined({ total }) }
  }

  async #compare([from, to]: readonly [Snapshot, Snapshot], signal: AbortSignal): Promise<ChangeList> {
    const all = await listChanges(await this.#shadow.git(signal), { from: from.tree, to: to.tree, signal })
    const known = await knownIn(to.leftOut, all)
    const added = await filterInSlices(to.leftOut.paths, ({ path }) => !from.leftOut.covers(path))
    const leftOut = [...from.leftOut.paths, ...added]
    return { files: known.slice(0, LISTED_FILES), totals: totalsOf(known), leftOut: leftOut.slice(0, LISTED_LEFT_OUT) }
  }

  /** The states are read in the queue; the patch itself beside it, however slowly it is read. */
  async *#patch({ from, to, paths, signal: abort }: PatchRequest): AsyncGenerator<Buffer> {
    const wanted = checkPaths(paths)
    const limit = this.#limit({ signal: abort })
    const reader = new Reader(this.#readers)
    try {
      const states = await this.#queue.run(async () => {
        const found = [await this.#state(from, limit.signal), await this.#state(to, limit.signal)] as const
        reader.begin()
        return found
      })
      yield* patchOf(await this.#shadow.git(limit.signal), { states, paths: wanted, signal: limit.signal })
    } catch (thrown) {
      throw asError(thrown)
    } finally {
      reader.end()
      limit.clear()
    }
  }

  async #state(ref: StateRef, signal: AbortSignal): Promise<Snapshot> {
    return ref === NOW ? this.#now(signal) : this.#recorded(ref, signal)
  }

  #now(signal: AbortSignal): Promise<Snapshot> {
    return snapshotNow(this.#shadow, signal)
  }

  async #before(now: Snapshot, { session }: RewindRequest, signal: AbortSignal): Promise<Checkpoint> {
    const request = { session, label: 'before a rewind' }
    const { checkpoint } = await this.#store(now, request, signal).catch((thrown: unknown) => {
      throw skipOf(thrown)
    })
    return checkpoint
  }

  async #recorded(id: string, signal: AbortSignal): Promise<Snapshot> {
    if (!(await this.#shadow.exists()))
      throw new AgentprotoError('checkpoint_not_found', 'This folder has no checkpoints.', { given: id })
    return snapshotOf(await (await this.#refs(signal)).find(id))
  }

  async #refs(signal: AbortSignal): Promise<CheckpointRefs> {
    return new CheckpointRefs(await this.#shadow.git(signal), signal)
  }

  /** How far each session is, and the number of the last checkpoint of all. */
  async #loadHistory(refs: CheckpointRefs): Promise<History> {
    if (this.#history !== undefined) return this.#history
    const history: History = { number: 0, sessions: new Map() }
    for (const { checkpoint, number, tree } of await refs.list()) {
      history.number = number
      const first = history.sessions.get(checkpoint.session)?.first ?? tree
      history.sessions.set(checkpoint.session, { first, latest: tree })
    }
    return (this.#history = history)
  }

  async #reporting<T>(options: Timed, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await this.#alone(options, work)
    } catch (thrown) {
      throw asError(thrown)
    }
  }

  /** In the queue, with a time limit of its own. */
  #alone<T>(options: Timed, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.#queue.run(async () => {
      const limit = this.#limit(options)
      try {
        limit.signal.throwIfAborted()
        return await work(limit.signal)
      } finally {
        limit.clear()
      }
    })
  }

  #limit({ signal, long = false }: Timed): Limit {
    const { clock, limits } = this.#options
    return startLimit({ clock, ms: limits.timeMs * (long ? LONG : 1), signal })
  }
}

async function snapshotNow(shadow: ShadowRepository, signal: AbortSignal): Promise<Snapshot> {
  return shadow.snapshot(signal).catch((thrown: unknown) => {
    throw skipOf(thrown)
  })
}

interface Timed {
  readonly signal?: AbortSignal | undefined
  readonly long?: boolean
}

type Taken = Extract<CheckpointResult, { kind: 'taken' }>

interface History {
  number: number
  readonly sessions: Map<string, SessionProgress>
}

const isPruned = ({ session, at }: Checkpoint, { sessions, before }: PruneRequest): boolean =>
  sessions?.includes(session) === true || (before !== undefined && Date.parse(at) < before)

/** A patch that is being read, from the moment at which its objects are known. */
class Reader {
  readonly #readers: Set<Promise<void>>
  #finish: (() => void) | undefined

  constructor(readers: Set<Promise<void>>) {
    this.#readers = readers
  }

  begin(): void {
    const reading = new Promise<void>((resolve) => (this.#finish = resolve))
    this.#readers.add(reading)
    void reading.then(() => this.#readers.delete(reading))
  }

  end(): void {
    this.#finish?.()
  }
}
