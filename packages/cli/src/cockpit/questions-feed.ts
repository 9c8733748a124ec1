import type { Session, SessionRequest } from '@agentproto/contracts'

interface QuestionsFeedOptions {
  /** Reads the requests of a session. */
  readonly read: (session: Session) => Promise<readonly SessionRequest[]>
  readonly open: (session: Session, pending: readonly SessionRequest[]) => void
  readonly update: (session: Session, pending: readonly SessionRequest[]) => void
}

/**
 * What sessions ask, read again for a key, an answer and a change, all of which may come in one moment. Answers to reads may
 * overtake one another: an older one would bring back a question that was answered since.
 */
export class QuestionsFeed {
  readonly #options: QuestionsFeedOptions
  #started = 0
  #delivered = 0

  constructor(options: QuestionsFeedOptions) {
    this.#options = options
  }

  /** For a key that asks for them. */
  async open(session: Session): Promise<void> {
    const pending = await this.#read(session)
    if (pending !== undefined) this.#options.open(session, pending)
  }

  /** For questions that are open. */
  async update(session: Session): Promise<void> {
    const pending = await this.#read(session)
    if (pending !== undefined) this.#options.update(session, pending)
  }

  /** @returns undefined when a later read was faster */
  async #read(session: Session): Promise<readonly SessionRequest[] | undefined> {
    const number = ++this.#started
    const requests = await this.#options.read(session)
    if (number < this.#delivered) return undefined
    this.#delivered = number
    return requests.filter(({ state }) => state === 'pending')
  }
}
