import type { Session, StoredSession } from '@agentproto/contracts'
import type { Ending } from './lifecycle/ending.js'
import type { PromptQueue } from './turns/prompt-queue.js'
import type { SessionJournal } from './session-journal.js'
import type { TurnBook } from './turns/turn-book.js'

/** A session as its host and the readers of its log see it; what drives its agent is no concern of theirs. */
export interface HostedSession {
  readonly id: string
  readonly turns: TurnBook
  readonly queue: Pick<PromptQueue, 'length' | 'turn'>
  readonly journal: SessionJournal
  snapshot(): Session
  stored(): StoredSession
  /** @throws `termination_failed`; the session is not ended then */
  kill(ending: Ending): Promise<{ readonly ok: boolean }>
}
