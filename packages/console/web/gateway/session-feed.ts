import type { SessionEvent } from '@agentproto/client'
import { type Signal, signal } from '@preact/signals'
import { seamOf } from '../transcript/seam.js'
import { TranscriptModel } from '../transcript/transcript.js'
import { type EventsBefore, eventsBefore, pagesOf } from './event-pages.js'
import type { Gateway } from './gateway.js'
import { LiveEvents, untilItWorks } from './live-events.js'

/** Events that are read before anything is shown: some screens of an answer that came word by word. */
const FIRST_EVENTS = 2_000
/** What is read at a time of the events before them. */
const EARLIER_EVENTS = 5_000
/** So many are read without a person asking for them: all of most sessions, with their last plan and their prompts. */
const FILL_EVENTS = 20_000

interface FeedOptions {
  /** An event that a person was reading: it is loaded first too, unless it is far from the end. */
  readonly place?: number | undefined
}

/**
 * The transcript of one session, live: its end first, what is before it in the background and by need. `frame` grows at most
 * once per frame of the screen, however fast events come.
 */
export class SessionFeed {
  readonly transcript = new TranscriptModel()
  readonly frame = signal(0)
  readonly problem = signal('')
  /** Why earlier events could not be loaded; the next load tries again. */
  readonly earlierProblem = signal('')
  /** How many events are before those of the transcript; undefined until the first are loaded. */
  readonly earlier = signal<number | undefined>(undefined)
  readonly #gateway: Gateway
  readonly #id: string
  readonly #abort = new AbortController()
  /** What is loaded, and shown together with what is before it. */
  #held: readonly SessionEvent[] = []
  #loading: Promise<boolean> | undefined
  #isDrawing = false

  constructor(gateway: Gateway, id: string, options: FeedOptions = {}) {
    this.#gateway = gateway
    this.#id = id
    void this.#run(this.problem, async () => await this.#open(options))
  }

  close(): void {
    this.#abort.abort()
  }

  /**
   * Puts some earlier events in front. One load at a time: a second caller waits for the same.
   * @returns whether there may be more
   */
  async loadEarlier(): Promise<boolean> {
    this.#loading ??= this.#run(this.earlierProblem, async () => await this.#load()).finally(
      () => (this.#loading = undefined),
    )
    const isLoaded = await this.#loading
    return isLoaded && (this.earlier.value ?? 0) > 0
  }

  /** Loads the transcript to its first event. @returns whether all is loaded */
  async loadAll(): Promise<boolean> {
    while (await this.loadEarlier()) continue
    return this.earlier.value === 0
  }

  async #open({ place = Infinity }: FeedOptions): Promise<void> {
    const page = await untilItWorks(this.#abort.signal, async () => await this.#firstPage(place))
    for (const event of this.#shownOf(page)) this.transcript.apply(event)
    this.earlier.value = page.after
    this.#draw()
    const last = page.events.at(-1)?.seq ?? page.after
    void this.#fill(last - FILL_EVENTS)
    await this.#follow(last)
  }

  async #firstPage(place: number): Promise<EventsBefore> {
    const { lastSeq } = await this.#gateway.client.sessions.get(this.#id)
    const toPlace = lastSeq - place + FIRST_EVENTS / 2
    return await this.#before(lastSeq, toPlace < FILL_EVENTS ? Math.max(toPlace, FIRST_EVENTS) : FIRST_EVENTS)
  }

  async #follow(after: number): Promise<void> {
    const { signal: aborted } = this.#abort
    const onEvent = (event: SessionEvent): void => {
      this.transcript.apply(event)
      this.#draw()
    }
    const live = new LiveEvents(this.#gateway, this.#id, { signal: aborted, onEvent, onGap: () => this.#reportGap() })
    await live.follow(after)
  }

  async #fill(first: number): Promise<void> {
    while ((this.earlier.value ?? 0) > first && (await this.loadEarlier())) continue
  }

  async #load(): Promise<void> {
    const end = this.earlier.value ?? 0
    if (end === 0) return
    const page = await this.#before(end, EARLIER_EVENTS)
    const before = new TranscriptModel()
    for (const event of this.#shownOf(page)) before.apply(event)
    this.transcript.prepend(before)
    this.earlierProblem.value = ''
    this.earlier.value = page.after
    this.#draw()
  }

  async #before(end: number, count: number): Promise<EventsBefore> {
    const page = await eventsBefore(pagesOf(this.#gateway.client, this.#id), end, count)
    if (page.isLossy) this.#reportGap()
    return page
  }

  /** What can be shown of a page and what was held back before; nothing waits when the page is the first of the log. */
  #shownOf({ events, after }: EventsBefore): readonly SessionEvent[] {
    const all = [...events, ...this.#held]
    const { held, shown } = after === 0 ? { held: [], shown: all } : seamOf(all)
    this.#held = held
    return shown
  }

  /** @returns whether it succeeded */
  async #run(problem: Signal<string>, work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return !this.#abort.signal.aborted
    } catch (thrown) {
      if (!this.#abort.signal.aborted) problem.value = thrown instanceof Error ? thrown.message : String(thrown)
      return false
    }
  }

  #reportGap(): void {
    this.problem.value = 'Some events cannot be read any more.'
  }

  #draw(): void {
    if (this.#isDrawing) return
    this.#isDrawing = true
    requestAnimationFrame(() => {
      this.#isDrawing = false
      this.frame.value++
    })
  }
}
