/** A real nats-server with JetStream on a loopback port of its own. */
export interface NatsServer {
  readonly url: string
  /** 0 while it does not run. */
  readonly pid: number
  /** SIGKILL; its folder stays, so that `start` goes on with it. */
  kill(): Promise<void>
  /** Starts it again on the same port and folder. */
  start(): Promise<void>
  /** SIGSTOP, and SIGCONT. */
  freeze(): void
  thaw(): void
}

export interface NatsServers {
  readonly servers: readonly NatsServer[]
  /** Ends all and removes what they stored. */
  stop(): Promise<void>
}

export declare function launchNats(size: 1 | 3, args?: readonly string[]): Promise<NatsServers>
