import {
  type AgentAnswer,
  type AgentNotice,
  type AgentRequest,
  randomId,
  STREAM_EVENT_TYPES,
  type StreamEvent,
} from '@agentproto/contracts'
import type { AgentSignal, AgentSink, EventQueue, RunningAgent } from '@agentproto/contracts/agent'

/** Callbacks of a session, for notices that are not events of a turn and for requests. */
export interface SessionCallbacks {
  /** Answers a permission or a question. Without it every request is cancelled. `signal` aborts when it is withdrawn. */
  readonly onRequest?: (request: AgentRequest, signal: AbortSignal) => AgentAnswer | Promise<AgentAnswer>
  /** Plans, usage, titles, modes, stderr. */
  readonly onNotice?: (notice: AgentNotice) => void
}

/** A started agent, and the sink that it emits to. */
export interface Launched {
  readonly agent: RunningAgent
  readonly sink: SessionSink
}

/** The sink of an agent whose sessions read it one after the other. */
export class SessionSink implements AgentSink {
  #callbacks: SessionCallbacks
  #turn: EventQueue<StreamEvent> | undefined

  constructor(callbacks: SessionCallbacks) {
    this.#callbacks = callbacks
  }

  /** Whether a turn runs, of whichever session. */
  get busy(): boolean {
    return this.#turn !== undefined
  }

  /** Passes the events from now on to a turn, and notices and requests to its session. */
  begin(turn: EventQueue<StreamEvent>, callbacks: SessionCallbacks): void {
    this.#turn = turn
    this.#callbacks = callbacks
  }

  end(): void {
    this.#turn = undefined
  }

  emit(batch: readonly AgentSignal[]): void | Promise<void> {
    const events: StreamEvent[] = []
    for (const signal of batch) {
      if (isStreamEvent(signal)) events.push(signal)
      else this.#callbacks.onNotice?.(signal)
    }
    if (events.length > 0) return this.#turn?.push(events)
  }

  async ask(request: AgentRequest, signal: AbortSignal): Promise<AgentAnswer> {
    void this.#turn?.push([{ type: 'agent-prompt', requestId: randomId('req_'), request }])
    return (await this.#callbacks.onRequest?.(request, signal)) ?? { outcome: 'cancelled' }
  }
}

const STREAM_TYPES: ReadonlySet<string> = new Set(STREAM_EVENT_TYPES)

const isStreamEvent = (signal: AgentSignal): signal is Extract<AgentSignal, StreamEvent> =>
  STREAM_TYPES.has(signal.type)
