import type { Clock } from '@agentproto/contracts'
import type { ArmLimits } from '@agentproto/contracts/agent'
import type { AgentHost, LaunchOptions } from '@agentproto/driver-agent-cli'
import type { ProvisionHost } from '@agentproto/provisioning'
import type { GatewayHooks, ListenOptions, LogOptions, NotifyOptions } from '@agentproto/server'
import type { RegistryConfig } from '@agentproto/session-registry'
import type { CheckpointOptions } from './recording.js'
import type { GatewayStores } from './stores.js'

/** How agents outlive their gateway. `true` and `false` stand for `enabled`. */
export interface KeeperOptions {
  readonly enabled?: boolean
  /** How long idle agents live while no gateway serves the home, in milliseconds. Default: a day. */
  readonly orphanMs?: number
}

/** The fleet that a gateway joins. Secrets are given by the paths of their files. */
export interface ClusterOptions {
  /** Addresses of the NATS servers, `nats://host:port` or `tls://host:port`; any one that answers is enough. */
  readonly servers?: readonly string[]
  /** Absolute path of a credentials file of NATS. */
  readonly credentials?: string
  /** Absolute path of a file with an nkey seed. */
  readonly nkey?: string
  /** Absolute paths of PEM files. With any of them the connection must be encrypted. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string }
  /** Absolute path of the key that the gateways of the fleet share. Default: `fleet.key` of the home. */
  readonly key?: string
  /** Name of this host in the fleet: `[a-z0-9-]`, at most 63. Default: that of the machine, in these characters. */
  readonly host?: string
  /** What a start may name as `key=value` to run here. */
  readonly labels?: Readonly<Record<string, string>>
  /** After so long without a heartbeat a host is shown as unreachable, in milliseconds; the same on all hosts. Default 10 000. */
  readonly leaseMs?: number
}

/** The options of a gateway. Each has a default. */
export interface GatewayOptions {
  /** Folder of the gateway's state. Default: `AGENTPROTO_HOME`, else `~/.agentproto`. */
  readonly home?: string
  /**
   * `memory` keeps sessions and logs in this process only and takes no lock. With stores of your own, sessions and logs are
   * there; everything else, and the lock, stays in the home. Default `file`.
   */
  readonly store?: 'file' | 'memory' | GatewayStores
  /** `disk` waits for the disk at each batch of events (fdatasync); for files only. Default `kernel`. */
  readonly durability?: 'kernel' | 'disk'
  /**
   * Whether agents outlive the gateway: another process holds their pipes, and the next gateway of the home goes on with them.
   * Not on Windows, nor with `memory` or stores of your own. Default: that of config.json, else that of `defaults`, else false.
   */
  readonly keeper?: boolean | KeeperOptions
  /** What holds where neither these options nor config.json say anything. */
  readonly defaults?: { readonly keeper?: boolean }
  /** Folder for spawns that name neither a folder nor a workspace. Default: the process's. */
  readonly cwd?: string
  /** Further folders that hold one folder an adapter, each with its AGENT-CLI.md; they override the bundled ones. */
  readonly adapters?: readonly string[]
  /** Whether the adapters that ship with agentproto are offered. Default true. */
  readonly bundledAdapters?: boolean
  /** Absolute paths of executables by the manifests' `bin`; they override what is installed. */
  readonly executables?: Readonly<Record<string, string>>
  /** The owner's token. Default: the one in the home, created at the first start. */
  readonly token?: string
  /** Environment that agents' environments are made from. Default: the process's. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** How much of it agents see. Default `filtered`. */
  readonly environment?: NonNullable<AgentHost['environment']>
  /** Whose home agents live in, for all or by adapter: the operator's, or a private one. Default `operator`. */
  readonly homes?: NonNullable<AgentHost['homes']>
  /**
   * Files and commands of a session's folders that its agent, if it is not confined, may have the gateway read, write
   * and run. Default: none.
   */
  readonly serve?: NonNullable<LaunchOptions['serve']>
  /** What happens to an agent that cannot be confined as its manifest asks. Default `warn`: its session has a warning. */
  readonly sandbox?: 'warn' | 'refuse'
  /** Sandbox providers beside the built-in ones: themselves, or modules (a name or an absolute path). */
  readonly sandboxProviders?: NonNullable<NonNullable<AgentHost['sandbox']>['providers']>
  /** Adapter packages that may be loaded into this process beside the bundled ones, by name, each at one version. */
  readonly proprietary?: NonNullable<AgentHost['proprietary']>
  /** Gets the parts of an oauth secret that a setup asks for, by a flow of the embedder's own. Default: a person pastes them. */
  readonly oauth?: NonNullable<ProvisionHost['oauth']>
  /** Absolute path of the command line that agents may call; its folder comes first on their PATH. */
  readonly bin?: string
  readonly sessions?: Partial<RegistryConfig>
  /** Time limits of the start of an agent, in milliseconds. Default: a minute for the handshake and one to open a session. */
  readonly limits?: Partial<Pick<ArmLimits, 'handshakeMs' | 'openMs'>>
  /** Whether what sessions change in their folders is recorded, and how much; a gateway in memory records nothing. */
  readonly checkpoints?: CheckpointOptions
  /** Defaults of `listen`. */
  readonly listen?: Pick<ListenOptions, 'host' | 'port' | 'allowRemote' | 'maxConnections' | 'tls'>
  /** Host names beyond loopback under which the gateway is reached. */
  readonly allowedHosts?: readonly string[]
  /** Address of the gateway behind a proxy, with the path that the proxy takes off: `https://host.example/agents`. */
  readonly publicUrl?: string
  /** Web origins beyond loopback that may call it. */
  readonly allowedOrigins?: readonly string[]
  /** The gateway's own log, `logs/gateway.jsonl` of the home; a gateway in memory writes none. */
  readonly log?: LogOptions
  /** Whether the audit log, `logs/audit.jsonl` of the home, is written; a gateway in memory writes none. Default true. */
  readonly audit?: boolean
  /** What the embedder observes, changes or denies. */
  readonly hooks?: GatewayHooks
  /** The fleet that it joins. Default: that of config.json, else none. */
  readonly cluster?: ClusterOptions
  /**
   * `host:port` of agents that run elsewhere and may be on this machine or in a private network, also without encryption. Those of
   * config.json count too, as they are when such an agent is connected to.
   */
  readonly endpoints?: { readonly private?: readonly string[] }
  /** The registry of ACP agents, by its address: https, or http on loopback. Default: the public one. */
  readonly registry?: { readonly url?: string }
  /** What the owner is notified of, and how. Default: nothing. */
  readonly notify?: NotifyOptions
  readonly clock?: Clock
  /** Called with problems that are no call's error: a file moved aside, a leftover process ended, an internal error. */
  readonly onProblem?: (problem: string) => void
}
