import {
  type AgentInfo,
  AgentprotoError,
  type ContentBlock,
  type SessionSandbox,
  type StoredAgentSession,
  type StreamEvent,
  toAgentprotoError,
} from '@agentproto/contracts'
import { type ConfigChange, EventQueue, type ProcessExit } from '@agentproto/contracts/agent'
import type { Continued } from './continuation.js'
import type { SessionCallbacks } from './session-sink.js'

/** AIP-45's session: one conversation with one running agent. */
export interface Session {
  readonly info: AgentInfo
  /** The agent's own id of the session, by which it can be resumed where the agent can. Empty until it names one. */
  readonly agentSessionId: string
  readonly warnings: readonly string[]
  /** What confines the agent, and whether it does (AIP-36). */
  readonly sandbox?: SessionSandbox
  /**
   * Sends a turn and gives its events, the last of which is `turn-end`. Leaving the loop early cancels it.
   * The iterator throws `turn_in_progress` while another turn runs, `session_ended` after the end.
   */
  send(message: string | readonly ContentBlock[]): AsyncIterableIterator<StreamEvent>
  /** What the agent has stored itself, for a later `native-resume`; of one folder, or all. @throws `not_supported` */
  storedSessions(cwd?: string): Promise<readonly StoredAgentSession[]>
  /** Asks the agent to end the turn that runs; its `turn-end` still comes. */
  cancel(): Promise<void>
  /** @throws `not_supported`, `mode_unknown`, `option_invalid` */
  configure(change: ConfigChange): Promise<void>
  /** Ends the agent and everything that it started. Idempotent. @throws `termination_failed` */
  close(): Promise<ProcessExit>
  /** As `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** A running agent as an AIP-45 session. */
export function createSession({ agent, sink, preamble }: Continued, callbacks: SessionCallbacks): Session {
  let closed = false
  let pendingPreamble = preamble

  function send(message: string | readonly ContentBlock[]): AsyncIterableIterator<StreamEvent> {
    const queue = new EventQueue<StreamEvent>(() => void agent.cancel().catch(() => {}))
    const refusal = refuse()
    if (refusal) queue.end(refusal)
    else void run(queue, [...introduction(), ...blocksOf(message)])
    return queue
  }

  function introduction(): readonly ContentBlock[] {
    const text = pendingPreamble
    pendingPreamble = undefined
    return text === undefined ? [] : [{ type: 'text', text }]
  }

  function refuse(): AgentprotoError | undefined {
    if (closed) return new AgentprotoError('session_ended', 'The session was closed')
    return sink.busy ? new AgentprotoError('turn_in_progress', 'A turn of this session runs already') : undefined
  }

  async function run(queue: EventQueue<StreamEvent>, prompt: readonly ContentBlock[]): Promise<void> {
    sink.begin(queue, callbacks)
    try {
      await agent.send(prompt)
      sink.end()
      queue.end()
    } catch (thrown) {
      sink.end()
      queue.end(toAgentprotoError(thrown))
    }
  }

  function close(): Promise<ProcessExit> {
    closed = true
    return agent.stop()
  }

  return {
    info: agent.info,
    get agentSessionId() {
      return agent.agentSessionId
    },
    warnings: agent.warnings,
    ...(agent.sandbox === undefined ? {} : { sandbox: agent.sandbox }),
    send,
    storedSessions: async (cwd) => (await agent.storedSessions?.(cwd)) ?? [],
    cancel: () => agent.cancel(),
    configure: (change) => agent.configure(change),
    close,
    [Symbol.asyncDispose]: async () => void (await close()),
  }
}

const blocksOf = (message: string | readonly ContentBlock[]): readonly ContentBlock[] =>
  typeof message === 'string' ? [{ type: 'text', text: message }] : message
