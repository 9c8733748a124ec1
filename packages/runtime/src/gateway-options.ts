import type { Clock } from '@agentproto/contracts'
import type { AgentHost, LaunchOptions } from '@agentproto/driver-agent-cli'
import type { ProvisionHost } from '@agentproto/provisioning'
import type { RegistryConfig } from '@agentproto/session-registry'
import type { LogOptions } from './telemetry/gateway-log.js'
import type { GatewayHooks } from './hooks/gateway-hooks.js'
import type { TlsOptions } from './listen/tls-material.js'
import type { GatewayStores } from './stores.js'

/** What a gateway can be made of; everything has a default. */
export interface GatewayOptions {
  /** Folder of the gateway's state. Default: `AGENTPROTO_HOME`, else `~/.agentproto`. */
  readonly home?: string
  /**
   * `memory` keeps sessions and logs in this process alone and takes no lock. Stores of your own keep them wherever they
   * do; what else the gateway keeps, and its lock, stay in the home. Default `file`.
   */
  readonly store?: 'file' | 'memory' | GatewayStores
  /** `disk` waits for the disk at each batch of events (fdatasync); of the files alone. Default `kernel`. */
  readonly durability?: 'kernel' | 'disk'
  /** Folder for spawns that name neither a folder nor a workspace. Default: the process's. */
  readonly cwd?: string
  /** Further folders that hold one folder an adapter, each with its AGENT-CLI.md; they win over the bundled ones. */
  readonly adapters?: readonly string[]
  /** Whether the adapters that ship with agentproto are offered. Default true. */
  readonly bundledAdapters?: boolean
  /** Absolute paths of executables by the manifests' `bin`; they win over what is installed. */
  readonly executables?: Readonly<Record<string, string>>
  /** The owner's token. Default: the one in the home, made at the first start. */
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
  /** What becomes of an agent that cannot be confined as its manifest asks. Default `warn`: its session says so. */
  readonly sandbox?: 'warn' | 'refuse'
  /** Sandbox providers beside the built-in ones: themselves, or modules (a name or an absolute path). */
  readonly sandboxProviders?: NonNullable<NonNullable<AgentHost['sandbox']>['providers']>
  /** Adapter packages that may be loaded into this process beside the bundled ones, by name, each at one version. */
  readonly proprietary?: NonNullable<AgentHost['proprietary']>
  /**
   * Gets the parts of an oauth secret that a setup asks for, by a flow of the embedder's own. Default: a person
   * pastes them.
   */
  readonly oauth?: NonNullable<ProvisionHost['oauth']>
  /** Absolute path of the command line that agents may call; its folder comes first on their PATH. */
  readonly bin?: string
  readonly sessions?: Partial<RegistryConfig>
  /** Where `listen` listens if its caller does not say. */
  readonly listen?: Pick<ListenOptions, 'host' | 'port' | 'allowRemote' | 'maxConnections' | 'tls'>
  /** Host names beyond loopback under which the gateway is reached. */
  readonly allowedHosts?: readonly string[]
  /** Web origins beyond loopback that may call it. */
  readonly allowedOrigins?: readonly string[]
  /** The gateway's own log, `logs/gateway.jsonl` of the home; one in memory writes none. */
  readonly log?: LogOptions
  /** Whether `logs/audit.jsonl` of the home says who did what; one in memory writes none. Default true. */
  readonly audit?: boolean
  /** What the host looks at, changes or denies. */
  readonly hooks?: GatewayHooks
  readonly clock?: Clock
  /** Told what nobody's call could be told: a file moved aside, a leftover that was ended, an internal error. */
  readonly onProblem?: (problem: string) => void
}

export interface ListenOptions {
  /** Default `127.0.0.1`. Anything but loopback needs `allowRemote`. */
  readonly host?: string
  /** 0 picks a free one. Default 7646. */
  readonly port?: number
  /** Where nobody named a port and the usual one is taken, a free one, and a problem says so. Default: it fails. */
  readonly orFree?: boolean
  readonly allowRemote?: boolean
  /** Connections that may be open at once; beyond it the longest idle one is closed. Default 1024. */
  readonly maxConnections?: number
  /**
   * The process serves nothing else, so its global `Response` may be replaced by one that costs less, and V8 be told
   * how its young generation grows. Default false.
   */
  readonly ownProcess?: boolean
  /**
   * With a certificate and a key it serves https; what is given here goes over what `createGateway` and config.json
   * said, field by field.
   */
  readonly tls?: Partial<TlsOptions>
}
