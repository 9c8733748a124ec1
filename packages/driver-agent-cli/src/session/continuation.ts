import { AgentprotoError, type Clock } from '@agentproto/contracts'
import { type SessionOrigin, transcriptPreamble, type TranscriptTurn } from '@agentproto/contracts/agent'
import type { AgentCliManifest, ContinuationStrategy, KeyScope } from '@agentproto/manifest'
import type { Launched } from './session-sink.js'
import { nativeResumeArgs } from '../launch/native-resume.js'
import { PinnedAgents } from './pinned-agents.js'

/** How earlier turns reach the agent (AIP-45 §Continuation). */
export interface ContinuationOptions {
  /** Default: the manifest's. */
  readonly strategy?: ContinuationStrategy
  /** `pinned-session`: runs with the same key share one process, by the manifest's `key_scope`. */
  readonly key?: Readonly<Partial<Record<KeyScope, string>>>
  /** `transcript`: the earlier turns, oldest first. */
  readonly transcript?: readonly TranscriptTurn[]
  /** `transcript`: how many of its last turns the agent gets. Default 10. */
  readonly lastTurns?: number
  /** `native-resume`: the agent's own id of the session. */
  readonly agentSessionId?: string
}

/** An agent that has the earlier turns, or gets them with the first message. */
export interface Continued extends Launched {
  /** Text that precedes the first message. */
  readonly preamble?: string
}

/** What a strategy changes about a launch. */
export interface LaunchChange {
  readonly origin?: SessionOrigin
  /** Further arguments of the agent. */
  readonly args?: readonly string[]
}

export interface ContinuationRequest extends ContinuationOptions {
  readonly launch: (change: LaunchChange) => Promise<Launched>
  /** What else must be the same for two turns to share a process: folder, mode, options. */
  readonly settings: string
}

/** The strategies of one manifest, with the processes that they keep. */
export class Continuations {
  readonly #manifest: AgentCliManifest
  readonly #pins: PinnedAgents
  readonly #strategies: Readonly<Record<ContinuationStrategy, (request: ContinuationRequest) => Promise<Continued>>> = {
    none: ({ launch }) => launch({}),
    'pinned-session': (request) => this.#pinned(request),
    transcript: (request) => this.#withTranscript(request),
    'native-resume': (request) => this.#resumed(request),
  }

  constructor(manifest: AgentCliManifest, clock: Clock) {
    this.#manifest = manifest
    this.#pins = new PinnedAgents(clock)
  }

  /**
   * Starts an agent, or takes one that was kept.
   * @throws `continuation_unsupported` outside the manifest's `supported`; `invalid_request` without what the
   * strategy needs; as the launch
   */
  async begin(request: ContinuationRequest): Promise<Continued> {
    const { default: usual, supported } = this.#manifest.continuation ?? NOT_DECLARED
    const strategy = request.strategy ?? usual
    if (!supported.includes(strategy)) throw unsupported(strategy, `one of ${supported.join(', ')}`)
    return this.#strategies[strategy](request)
  }

  /** Ends every process that was kept. @throws `termination_failed` */
  close(): Promise<void> {
    return this.#pins.close()
  }

  #pinned({ key = {}, launch, settings }: ContinuationRequest): Promise<Continued> {
    const { keyScope, idleTimeoutMs } = (this.#manifest.continuation ?? NOT_DECLARED).pinnedSession
    const missing = keyScope.filter((scope) => !key[scope])
    if (missing.length > 0) throw needed('pinned-session', `key.${missing.join(', key.')}`)
    const pin = JSON.stringify([keyScope.map((scope) => key[scope]), settings])
    return this.#pins.take(pin, { idleTimeoutMs, launch: () => launch({}) })
  }

  async #withTranscript({ transcript, lastTurns, launch }: ContinuationRequest): Promise<Continued> {
    if (transcript === undefined) throw needed('transcript', 'transcript')
    const preamble = transcriptPreamble(transcript, lastTurns)
    const launched = await launch({})
    return preamble === '' ? launched : { ...launched, preamble }
  }

  #resumed({ agentSessionId, launch }: ContinuationRequest): Promise<Continued> {
    if (!this.#manifest.capabilities.resumable) throw unsupported('native-resume', 'capabilities.resumable: true')
    if (!agentSessionId) throw needed('native-resume', 'agentSessionId')
    const args = nativeResumeArgs(this.#manifest, agentSessionId)
    return args === undefined ? launch({ origin: { how: 'resume', agentSessionId } }) : launch({ args })
  }
}

/** AIP-45: without the block, every session is fresh. */
const NOT_DECLARED: NonNullable<AgentCliManifest['continuation']> = {
  default: 'none',
  supported: ['none'],
  pinnedSession: { idleTimeoutMs: 0, keyScope: [] },
}

const unsupported = (given: ContinuationStrategy, expected: string): AgentprotoError =>
  new AgentprotoError('continuation_unsupported', 'The agent does not support this continuation', { expected, given })

const needed = (strategy: ContinuationStrategy, expected: string): AgentprotoError =>
  new AgentprotoError('invalid_request', `The continuation ${strategy} needs more options`, { expected })
