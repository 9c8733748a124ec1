import {
  type AgentConfig,
  AgentprotoError,
  type AgentSink,
  type ConfigChange,
  type RunningAgent,
  type StoredSpawn,
  type TraceContext,
} from '@agentproto/contracts'
import { messageOf } from './ending.js'
import type { HostedSession } from '../hosted-session.js'
import type { SessionHost } from '../session-host.js'
import type { Prefaces } from '../turns/prefaces.js'
import { configChanges, described } from './restore-config.js'
import type { Resumption } from './resume.js'
import type { SessionLog } from '../log/session-log.js'
import { startOptionsOf } from './spawn-request.js'
import { transcriptOf } from '../turns/transcript-of.js'

/** The conversation of a session with its agent, which may be started for it many times. */

/** The longest that a start waits for a conversation to become one that can be taken up, in milliseconds. */
const MAX_WAIT_MS = 2 * 60_000

/** Where a start of the agent begins; `how` where the session had ended. */
export interface Starting extends Pick<Resumption, 'origin'>, Partial<Pick<Resumption, 'how'>> {
  /** The trace that whoever starts it is in. */
  readonly trace?: TraceContext | undefined
}

export interface ConversationOptions {
  readonly host: Pick<SessionHost, 'clock' | 'startAgent'>
  readonly session: HostedSession
  readonly log: SessionLog
  readonly prefaces: Prefaces
  /** As it was stored. */
  readonly startedAt: string | undefined
}

export class Conversation {
  readonly #options: ConversationOptions
  #startedAt: string | undefined
  /** What the agent was set to when it ended; it may have changed its mode itself. */
  #before: AgentConfig | undefined

  constructor(options: ConversationOptions) {
    this.#options = options
    this.#startedAt = options.startedAt
  }

  /** When the agent was last started for it; ISO-8601. */
  get startedAt(): string | undefined {
    return this.#startedAt
  }

  /** Starts the agent in it, or in a new one. @throws as {@link StartAgent} */
  async start(
    spawn: StoredSpawn,
    { origin, how, trace, sink, signal }: Starting & { readonly sink: AgentSink; readonly signal: AbortSignal },
  ): Promise<RunningAgent> {
    const { host, session, prefaces, log } = this.#options
    this.#before = session.snapshot().config
    const transcript = how === 'transcript' ? await transcriptOf(session) : undefined
    if (origin.how !== 'new') await this.#untilDue(spawn, signal)
    this.#startedAt = log.now()
    const options = startOptionsOf(session.snapshot(), spawn, { origin, signal, trace })
    const agent = await host.startAgent(options, sink)
    prefaces.started({ byChannel: agent.instructed === true, knows: origin.how !== 'new', transcript })
    return agent
  }

  /**
   * Sets an agent to the mode, model and options that callers had set, and to those that it had when it ended. One that
   * it refuses is told, and costs nothing else.
   */
  async restore(agent: RunningAgent, { changes = [] }: StoredSpawn): Promise<void> {
    const { session, log } = this.#options
    for (const change of changes) await this.#set(agent, change)
    if (this.#before === undefined) return
    // What it said of itself meanwhile is logged first.
    await log.append([])
    for (const change of configChanges(this.#before, session.snapshot().config)) await this.#set(agent, change)
  }

  async #set(agent: RunningAgent, change: ConfigChange): Promise<void> {
    try {
      await agent.configure(change)
    } catch (refused) {
      const message = `The agent could not be set to ${described(change)} again: ${messageOf(refused)}`
      await this.#options.log.appendOrEnd([{ type: 'runtime-warning', message }])
    }
  }

  /** Waits where an agent would lose a conversation that is taken up too early (`resumeAfterMs` of the adapter). */
  async #untilDue({ policy }: StoredSpawn, signal: AbortSignal): Promise<void> {
    const { host, session, log } = this.#options
    const { clock } = host
    const dueAt = Date.parse(this.#startedAt ?? session.snapshot().startedAt) + (policy?.resumeAfterMs ?? 0)
    const waitMs = Math.min(MAX_WAIT_MS, dueAt - clock.now())
    if (waitMs <= 0) return
    const message = `The agent would lose a conversation that is this young: it is started in ${Math.ceil(waitMs / 1_000)} s`
    await log.append([{ type: 'runtime-progress', elapsedMs: 0, idleMs: 0, message }])
    await new Promise<void>((resolve, reject) => {
      const abort = (): void => {
        timer.cancel()
        reject(new AgentprotoError('cancelled', 'The start of the agent was cancelled'))
      }
      const timer = clock.after(waitMs, () => {
        signal.removeEventListener('abort', abort)
        resolve()
      })
      if (signal.aborted) return abort()
      signal.addEventListener('abort', abort, { once: true })
    })
  }
}
