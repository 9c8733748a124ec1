import { realpath } from 'node:fs/promises'
import { AgentprotoError, defined, type Principal, type Rewound, type SessionReview } from '@agentproto/contracts'
import { type Checkpoint, type FolderChanges, NOW, type Patch } from '@agentproto/contracts/agent'
import {
  CHANGE_BOUNDS,
  type ChangeService,
  type ChangesQuery,
  type ComparedState,
  type PatchQuery,
  type ReviewedRequest,
  type RewindFilesRequest,
  type RewoundFiles,
  type SessionChanges,
} from '@agentproto/contracts/wire'
import { assertNoAgent } from '../delegation/delegation.js'
import { type Asker, sameRootsOf } from '../delegation/root-folder.js'
import type { SessionActor } from '../session/actor.js'
import type { SessionCache } from '../session-cache.js'
import type { SessionHost } from '../session-host.js'
import { type Comparison, comparisonOf, stateNamed, type States, statesOf } from './change-states.js'
import { LABELS, reviewsOf } from './checkpoint-names.js'
import { CheckpointPruner } from './checkpoint-pruner.js'
import { isShared, liveNeighbours } from './session-folder.js'
import { rootOf } from './session-root.js'

export interface ChangesHost extends Pick<SessionHost, 'changes' | 'checkpointAgeMs' | 'clock' | 'onProblem'> {
  readonly sessions: SessionCache
  readonly asker: (by: Principal) => Asker
}

/** See {@link ChangeService}: the recorded states of the folders of one registry's sessions. */
export class SessionChangeService implements ChangeService {
  readonly #host: ChangesHost
  readonly #pruner: CheckpointPruner

  constructor(host: ChangesHost) {
    this.#host = host
    this.#pruner = new CheckpointPruner(host)
    this.#pruner.start()
  }

  /** Deletes the checkpoints of a session that is forgotten. */
  forget(id: string): void {
    this.#pruner.forget(id)
  }

  /** Resolves when nothing is being recorded or deleted any more. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#host.sessions.loaded.map((session) => session.recorded()))
    await this.#pruner.close()
  }

  async list(id: string, query: ChangesQuery = {}, signal?: AbortSignal): Promise<SessionChanges> {
    const { folder, compared } = await this.#compared(id, query)
    const { from, to } = compared
    const changes = await folder.changes(refOf(from), refOf(to), defined({ signal }))
    const during = { from: Date.parse(from.at), to: Date.parse(to.at) }
    return { from, to, ...changes, shared: isShared(this.#host.sessions, id, during) }
  }

  async diff(
    id: string,
    { path, ...query }: PatchQuery = {},
    signal?: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>> {
    const { folder, compared } = await this.#compared(id, query)
    const wanted = path === undefined ? [] : [path].flat()
    const paths = wanted.length === 0 || wanted.includes('.') ? undefined : wanted
    const { patchBytes: maxBytes } = CHANGE_BOUNDS
    const patch = folder.diff({
      from: refOf(compared.from),
      to: refOf(compared.to),
      maxBytes,
      ...defined({ paths, signal }),
    })
    return whole(patch, maxBytes)
  }

  async markReviewed(id: string, { turn }: ReviewedRequest, by: Principal): Promise<SessionReview> {
    const session = this.#host.sessions.get(id)
    assertNoAgent(by, 'review what a session changed')
    const folder = await this.#folder(session)
    const states = await this.#states(folder, session)
    const reviewed = turn === undefined ? await this.#now(folder, id) : stateNamed(states, turn)
    const { checkpoint, turn: ofTurn } = reviewed
    if (checkpoint === undefined) throw new AgentprotoError('checkpoint_failed', 'The files could not be recorded')
    const review = {
      at: new Date(this.#host.clock.now()).toISOString(),
      checkpoint,
      ...defined({ turn: ofTurn ?? turn }),
    }
    await session.post({ type: 'reviewed', review })
    return review
  }

  async rewind(id: string, request: RewindFilesRequest, by: Principal): Promise<RewoundFiles> {
    const { sessions } = this.#host
    const session = sessions.get(id)
    assertNoAgent(by, 'set files back')
    await sameRootsOf(session.stored(), this.#host.asker(by))
    const folder = await this.#folder(session)
    const to = stateNamed(await this.#states(folder, session), targetOf(request))
    if (request.dryRun === true) return this.#rewound(folder, { id, to, request })
    if (request.force !== true) assertAlone(sessions, id)
    await session.call('begin-rewind', {})
    let rewound: Rewound | undefined
    try {
      const done = await this.#rewound(folder, { id, to, request })
      rewound = await eventOf(folder, id, done)
      return done
    } finally {
      await session.post({ type: 'rewind-over', rewound })
    }
  }

  /** Sets the files of another folder to those of a turn. @throws `checkpoint_not_found`, `checkpoint_failed`, `not_supported` */
  async copyTurn(id: string, turn: number, into: string): Promise<void> {
    const session = this.#host.sessions.get(id)
    const folder = await this.#folder(session)
    const state = stateNamed(await this.#states(folder, session), turn)
    await folder.copy({ checkpoint: refOf(state), into })
  }

  async #rewound(folder: FolderChanges, { id, to, request: { paths, dryRun = false } }: Rewind): Promise<RewoundFiles> {
    const result = await folder.rewind({ to: refOf(to), session: id, dryRun, ...defined({ paths }) })
    const { changed, changedCount, kept, before } = result
    return { dryRun, to, changed, changedCount, kept, ...defined({ before: before?.id }) }
  }

  async #now(folder: FolderChanges, id: string): Promise<ComparedState> {
    const result = await folder.checkpoint({ session: reviewsOf(id), label: LABELS.reviewed })
    if (result.kind === 'taken') return { checkpoint: result.checkpoint.id, at: result.checkpoint.at }
    throw new AgentprotoError('checkpoint_failed', `The files could not be recorded: ${result.detail}`, {
      given: result.reason,
    })
  }

  async #compared(id: string, query: ChangesQuery): Promise<{ folder: FolderChanges; compared: Comparison }> {
    const session = this.#host.sessions.get(id)
    const folder = await this.#folder(session)
    return { folder, compared: comparisonOf(await this.#states(folder, session), query) }
  }

  #states(folder: FolderChanges, session: SessionActor): Promise<States> {
    return statesOf(folder, session.snapshot(), this.#host.clock.now())
  }

  /** @throws `not_supported`, `checkpoint_failed` if the folder leads elsewhere than at the session's start */
  async #folder(session: SessionActor): Promise<FolderChanges> {
    const { changes } = this.#host
    if (changes === undefined) throw notRecorded()
    const { imported, cwd } = session.state.session
    if (imported !== undefined) throw notRecorded('The session was imported: its folder is on another host')
    const root = rootOf(session.state)
    const real = await realpath(cwd).catch(() => root)
    if (real === root) return changes.open(root)
    throw new AgentprotoError('checkpoint_failed', 'The folder of the session now leads elsewhere', {
      expected: root,
      given: real,
    })
  }
}

interface Rewind {
  readonly id: string
  readonly to: ComparedState
  readonly request: RewindFilesRequest
}

/** What the log says of it. Recorded once more, so that the next turn is counted from what is there now. */
async function eventOf(
  folder: FolderChanges,
  session: string,
  { to, before = '', changedCount: files }: RewoundFiles,
): Promise<Rewound> {
  const result = await folder.checkpoint({ session, label: LABELS.rewound })
  const total = result.kind === 'taken' ? result.total : undefined
  return { type: 'rewound', to: refOf(to), before, files, ...defined({ total }) }
}

const refOf = ({ checkpoint = NOW }: ComparedState): Checkpoint['id'] => checkpoint

/** @throws `invalid_request` */
function targetOf(request: RewindFilesRequest): string | number {
  const target = 'turn' in request ? request.turn : request.checkpoint
  if (target !== NOW) return target
  throw new AgentprotoError('invalid_request', 'A rewind goes back to a turn or to a checkpoint')
}

/** @throws `folder_in_use` */
function assertAlone(sessions: SessionCache, id: string): void {
  const [other] = liveNeighbours(sessions, id)
  if (other === undefined) return
  throw new AgentprotoError('folder_in_use', 'Another session runs in the folder', {
    hint: 'End it, or rewind with "force": its changes of these files are set back as well',
  })
}

async function* whole(patch: Patch, maxBytes: number): AsyncGenerator<Uint8Array> {
  yield* patch
  if (patch.truncated)
    yield new TextEncoder().encode(`\n# agentproto: the rest of the patch is left out, after ${maxBytes} bytes\n`)
}

const notRecorded = (what = 'The gateway does not record what sessions change'): AgentprotoError =>
  new AgentprotoError('not_supported', what, { hint: 'Set checkpoints.enabled in config.json, for new sessions' })
