import type { Clock } from '@agentproto/contracts'
import type { AgentSink, ArmConnectOptions, ArmLimits, OpenSessionOptions } from '@agentproto/contracts/agent'
import { HostServices } from './host-services.js'

export interface SessionServicesOptions extends Partial<Pick<ArmConnectOptions, 'serve' | 'launch'>> {
  readonly limits: ArmLimits
  readonly clock: Clock
}

/** What the host does for the sessions of one agent: each has its own files and commands. */
export class SessionServices {
  readonly #options: SessionServicesOptions
  readonly #open = new Map<string, HostServices>()

  constructor(options: SessionServicesOptions) {
    this.#options = options
  }

  /**
   * Undefined where nothing is offered.
   * @param asked how many permissions were asked for before
   */
  create(
    { cwd, additionalDirectories }: Pick<OpenSessionOptions, 'cwd' | 'additionalDirectories'>,
    sink: AgentSink,
    asked = 0,
  ): HostServices | undefined {
    const { serve, launch, limits, clock } = this.#options
    if (!launch || !(serve?.fs || serve?.terminal)) return undefined
    const context = { serve, launch, limits, clock, sink, asked }
    return new HostServices({ roots: [cwd, ...additionalDirectories], ...context })
  }

  opened(sessionId: string, services: HostServices | undefined): void {
    if (services) this.#open.set(sessionId, services)
  }

  closed(sessionId: string): void {
    const services = this.#open.get(sessionId)
    // The session may be open again by then, with other services.
    void services?.close().then(() => {
      if (this.#open.get(sessionId) === services) this.#open.delete(sessionId)
    })
  }

  close(): Promise<unknown> | undefined {
    if (this.#open.size === 0) return undefined
    return Promise.all([...this.#open.values()].map((services) => services.close()))
  }
}
