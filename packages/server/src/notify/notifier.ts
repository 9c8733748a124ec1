import {
  AgentprotoError,
  type Clock,
  defined,
  isAgentprotoError,
  type Notification,
  NOTIFY_EVENTS,
  type NotifyEvent,
  type Principal,
  randomId,
  type Session,
  type SessionEvent,
} from '@agentproto/contracts'
import type {
  NotificationService,
  NotificationState,
  NotificationTest,
  NotifyTarget,
  SessionService,
} from '@agentproto/contracts/wire'
import { CommandTarget } from './command-target.js'
import { boundedTitle } from './notification-text.js'
import type { NotifyOptions } from './notify-options.js'
import { type News, SessionNews } from './session-news.js'
import { type Target, TargetCounts } from './target.js'
import type { Receiver } from './webhook.js'
import { WebhookTarget } from './webhook-target.js'

export interface NotifierOptions {
  readonly options: NotifyOptions
  readonly clock: Clock
  readonly hostId: string
  readonly version: string
  /** The gateway's environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Absolute path of the outbox; undefined keeps it in memory. */
  readonly outboxPath: string | undefined
  /** The value of a secret by its slug. */
  readonly secret: (slug: string) => Promise<string | undefined>
  readonly redact: (text: string) => string
  /** See {@link Receiver.loadReach}. */
  readonly loadReach: Receiver['loadReach']
  readonly onProblem: (problem: string) => void
}

const TURN_MS = 60_000
const DELAY_MS = 2_000
const SECRET = 'notify-webhook'

/** Notifies the owner of a gateway of what needs a person, by a program of the desktop and by a webhook. */
export class Notifier implements NotificationService {
  readonly #options: NotifierOptions
  readonly #on: readonly NotifyEvent[]
  readonly #targets: readonly Target[]
  readonly #news: SessionNews
  #sessions: Pick<SessionService, 'get'> | undefined

  /** @throws `invalid_request` for a webhook whose address is none */
  constructor(options: NotifierOptions) {
    const { on = NOTIFY_EVENTS, turnMs = TURN_MS, delayMs = DELAY_MS } = options.options
    this.#options = options
    this.#on = on
    this.#targets = targetsOf(options)
    this.#news = new SessionNews({
      clock: options.clock,
      turnMs,
      delayMs,
      onNews: (news) => void this.#notify(news),
      onDropped: (reason, count) => this.#targets.forEach(({ counts }) => counts.onDropped(reason, count)),
    })
  }

  /** Delivers what an earlier gateway left, and from now on what happens. */
  async start(sessions: Pick<SessionService, 'get'>): Promise<void> {
    this.#sessions = sessions
    await Promise.all(this.#targets.map((target) => target.open()))
  }

  /** Takes a stored batch of one session, and never throws. Undefined where no one is to be notified. */
  get events(): ((events: readonly SessionEvent[]) => void) | undefined {
    return this.#targets.length === 0 ? undefined : (events) => this.#news.take(events)
  }

  async state(): Promise<NotificationState> {
    const targets = this.#targets.map((target) => {
      const { delivered, failures, dropped, problem } = target.counts
      const counts = { delivered, failures, dropped, ...defined({ problem }) }
      return { target: target.name, to: target.to, ...target.waiting(), ...counts }
    })
    return { on: this.#on, targets }
  }

  async test(_by: Principal): Promise<NotificationTest> {
    if (this.#targets.length === 0) throw notConfigured()
    const notification = this.#notification('test', { at: new Date(this.#options.clock.now()).toISOString(), data: {} })
    const results = this.#targets.map(async (target) => {
      const problem = await target.test(notification)
      return { target: target.name, to: target.to, ok: problem === undefined, ...defined({ problem }) }
    })
    return { results: await Promise.all(results) }
  }

  /** What is not delivered yet stays in the outbox. Idempotent. */
  async close(): Promise<void> {
    this.#news.close()
    await Promise.all(this.#targets.map((target) => target.close()))
  }

  async #notify(news: News): Promise<void> {
    if (!this.#on.includes(news.event)) return
    try {
      const session = await this.#sessions?.get(news.sessionId)
      if (session === undefined || !this.#isChosen(session, news)) return
      const { workspaceSlug: workspace, adapterSlug: adapter } = session
      const label = this.#bounded(session.label)
      const agentTitle = this.#bounded(news.words)
      const data = { ...news.data, ...defined({ label, agentTitle }), workspace, adapter }
      const notification = this.#notification(news.event, { at: news.at, data })
      for (const target of this.#targets) target.notify(notification)
    } catch (thrown) {
      // The session was deleted meanwhile.
      if (isAgentprotoError(thrown) && thrown.code === 'session_not_found') return
      this.#options.onProblem(`notify: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    }
  }

  /** Redacted first: a part of a secret is not recognised. */
  #bounded(text: string | undefined): string | undefined {
    return text && boundedTitle(this.#options.redact(text))
  }

  /** The agent that started a session waits for the end of its turns, not a person. */
  #isChosen({ workspaceSlug, label, parentSessionId }: Session, { event }: News): boolean {
    const { workspaces, labels } = this.#options.options
    if (event === 'turn-end' && parentSessionId !== undefined) return false
    if (workspaces !== undefined && !workspaces.includes(workspaceSlug)) return false
    return labels === undefined || (label !== undefined && labels.includes(label))
  }

  #notification(
    event: Notification['event'],
    { at, data }: Pick<News, 'at'> & { readonly data: object },
  ): Notification {
    return { id: randomId('msg_'), event, at, data: { hostId: this.#options.hostId, ...data } }
  }
}

function targetsOf({
  options,
  clock,
  version,
  env,
  outboxPath,
  secret,
  loadReach,
  onProblem,
}: NotifierOptions): Target[] {
  const { command = [], webhook = {}, outbox: limits = {} } = options
  const { url, secret: secretSlug = SECRET, allowPrivate = false } = webhook
  const countsOf = (name: NotifyTarget): TargetCounts =>
    new TargetCounts({ name, clock, onProblem: (problem) => onProblem(`notify ${problem}`) })
  const targets: Target[] = []
  if (command.length > 0) targets.push(new CommandTarget({ argv: command, env, clock }, countsOf('command')))
  if (url !== undefined) {
    const userAgent = `agentproto/${version}`
    const receiver = { url, allowPrivate, secret: () => secret(secretSlug), secretSlug, userAgent, clock, loadReach }
    targets.push(new WebhookTarget({ receiver, directory: outboxPath, limits, counts: countsOf('webhook') }))
  }
  return targets
}

const notConfigured = (): AgentprotoError =>
  new AgentprotoError('invalid_request', 'No notification is configured', {
    expected: 'notify.command or notify.webhook.url in config.json of the gateway',
    hint: 'Set one: agentproto config set notify.webhook.url <https-url>, then restart the gateway',
  })
