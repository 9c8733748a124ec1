import { realpath } from 'node:fs/promises'
import { type CheckpointSkipReason, defined } from '@agentproto/contracts'
import type { ChangeStore, FolderChanges } from '@agentproto/contracts/agent'
import { messageOf } from '../lifecycle/ending.js'
import type { LogEntry } from '../log/event-record.js'
import type { SessionHost } from '../session-host.js'
import type { SessionHandle } from '../session/session-handle.js'
import { LABELS } from './checkpoint-names.js'
import { rootOf } from './session-root.js'

/** Characters of why something was not recorded. */
const MAX_DETAIL = 1_000

/** Records the folder of a session, one time after the other, and posts each outcome to the session. */
export class FolderRecorder {
  readonly #session: SessionHandle
  readonly #host: Pick<SessionHost, 'changes'>
  #abort = new AbortController()
  /** Settles when nothing is being recorded. */
  idle: Promise<void> = Promise.resolve()

  constructor(session: SessionHandle, host: Pick<SessionHost, 'changes'>) {
    this.#session = session
    this.#host = host
  }

  /** @param turn the one that has ended; 0 before the agent is started */
  record(turn: number): void {
    const { changes } = this.#host
    if (changes === undefined) return
    this.#abort.abort()
    const { signal } = (this.#abort = new AbortController())
    this.idle = Promise.all([this.idle, this.#record(changes, turn, signal)]).then(() => undefined)
  }

  abort(): void {
    this.#abort.abort()
  }

  async #record(changes: ChangeStore, turn: number, signal: AbortSignal): Promise<void> {
    const outcome = await this.#outcome(changes, turn, signal)
    if (!signal.aborted) await this.#session.post({ type: 'recorded', turn, outcome })
  }

  async #outcome(changes: ChangeStore, turn: number, signal: AbortSignal): Promise<LogEntry> {
    try {
      const folder = await sameFolder(changes, this.#session)
      if (typeof folder === 'string') return skipped(folder)
      const { id: session } = this.#session
      const when = turn === 0 ? { label: LABELS.start } : { label: LABELS.turn, turn }
      const result = await folder.checkpoint({ session, signal, ...when })
      if (result.kind === 'skipped') return skipped(result.reason, result.detail)
      const { id, files, additions, deletions, leftOutCount } = result.checkpoint
      return {
        type: 'checkpoint',
        id,
        files,
        additions,
        deletions,
        ...defined({ total: result.total, leftOut: leftOutCount === 0 ? undefined : leftOutCount }),
      }
    } catch (error) {
      return skipped('failed', messageOf(error))
    }
  }
}

/** The states of the session's folder, if that is where the session was started. */
async function sameFolder(
  changes: ChangeStore,
  session: SessionHandle,
): Promise<FolderChanges | 'folder_missing' | 'folder_moved'> {
  const { cwd } = session.state.session
  const real = await realpath(cwd).catch(() => undefined)
  if (real === undefined) return 'folder_missing'
  return real === rootOf(session.state) ? changes.open(real) : 'folder_moved'
}

const skipped = (reason: CheckpointSkipReason, detail?: string): LogEntry => ({
  type: 'checkpoint-skipped',
  reason,
  ...defined({ detail: detail?.slice(0, MAX_DETAIL) }),
})
