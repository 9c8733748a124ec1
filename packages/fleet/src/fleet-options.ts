import type { Clock } from '@agentproto/contracts'

/** The runs of the gateways of one home, one after the other. */
export interface FleetRuns {
  /** Of this run, by which the fleet knows it; never used twice. */
  readonly own: string
  /**
   * Whether an earlier run has ended for sure, so that its lease need not be waited for. False for all that is not known here.
   * Asked again while its lease lasts.
   */
  hasEnded(run: string): boolean
}

/** How a gateway joins a fleet. */
export interface FleetOptions {
  /** Addresses of the NATS servers, `nats://host:port` or `tls://host:port`; any one that answers is enough. */
  readonly servers: readonly string[]
  /** Absolute path of a NATS credentials file (`.creds`: a JWT and its nkey seed). */
  readonly credentials?: string
  /** Absolute path of a file with an nkey seed. */
  readonly nkey?: string
  /** Absolute paths of PEM files. With any of them the connection must be encrypted. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string }
  /** The name of this host in the fleet: `[a-z0-9-]`, at most 63 characters. Default: of the machine. */
  readonly host?: string
  readonly labels?: Readonly<Record<string, string>>
  /** Absolute path of the key that the gateways of the fleet share, 32 bytes; only its owner may read it. */
  readonly key: string
  /**
   * After so long without a heartbeat a host is shown as unreachable, in milliseconds. It owns its sessions for twice as long;
   * after three times, others may act in its place. The same on all hosts. Default 10 000.
   */
  readonly leaseMs?: number
  /** This run of the gateway, and what is known of earlier ones. Default: nothing is known, and their leases are waited for. */
  readonly runs?: FleetRuns
  readonly clock: Clock
  /** Milliseconds of a clock that no one can set. Default: of Node. */
  readonly monotonic?: () => number
  /** Called with problems that are no call's error. */
  readonly onProblem: (problem: string) => void
}
