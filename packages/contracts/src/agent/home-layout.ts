/** The files below `AGENTPROTO_HOME`. Directories are 0700, files 0600. */
export type HomeLayout = Readonly<ReturnType<typeof homeLayout>>

/** The layout below a root; creates no files. */
export function homeLayout(root: string) {
  const at = (name: string): string => `${root}/${name}`
  return {
    root,
    /** The format of the home, and which agentproto wrote it. */
    format: at('home.json'),
    /** Files as they were before an upgrade of the home changed them. */
    backups: at('backups'),
    sessions: at('sessions'),
    sessionsIndex: at('sessions.json'),
    workspaces: at('workspaces.json'),
    /** Folders whose adapters the owner trusts. */
    trusted: at('trusted.json'),
    config: at('config.json'),
    /** See {@link DaemonRecord}. */
    daemon: at('daemon.json'),
    /** The owner's token. */
    token: at('token'),
    /** Named tokens, as hashes. */
    tokens: at('tokens.json'),
    /** Tokens of agents that may outlive the gateway, as hashes. */
    sessionTokens: at('session-tokens.json'),
    secrets: at('secrets.json'),
    /** Tokens of other gateways, for the commands of this user. */
    gatewayTokens: at('gateway-tokens.json'),
    /** Socket and secret of the keeper. */
    keeper: at('keeper'),
    /** The key that the gateways of a fleet share. */
    fleetKey: at('fleet.key'),
    /** The last gateways of the home in a fleet, and their processes. */
    fleetRuns: at('fleet-runs.json'),
    /** What sandboxes of running agents need, one folder per session. */
    sandboxes: at('sandboxes'),
    crashBundles: at('crash-bundles'),
    logs: at('logs'),
    /** Adapters that the owner added. */
    adapters: at('adapters'),
    /** Agents installed for this home, one npm prefix per agent. */
    agents: at('agents'),
    /** Private homes of agents, one folder per adapter, for the policy `isolated`. */
    homes: at('homes'),
    /** Recorded states of folders, one shadow repository per folder. */
    checkpoints: at('checkpoints'),
    /** Worktrees of sessions, by repository and branch. */
    worktrees: at('worktrees'),
    /** Permission rules of workspaces, one file per workspace. */
    rules: at('rules'),
    /** What sessions used, one file per day. */
    usage: at('usage'),
    /** Webhooks that are not delivered yet, one file per notification. */
    outbox: at('outbox'),
    /** What registries of agents answered, one file per address. */
    registries: at('registries'),
    /** The files that were first downloaded from addresses of registries, by their SHA-256. */
    heldDownloads: at('held-downloads.json'),
    /** Icons of agents, one file per address. */
    icons: at('icons'),
    /** The install and setup state of agents, one file per adapter. */
    provisioning: at('provisioning'),
  }
}

/** What `daemon.json` holds: the gateway that serves a home. */
export interface DaemonRecord {
  readonly pid: number
  /** ISO-8601. */
  readonly startedAt: string
  readonly url: string
  /** Plain HTTP on loopback, for the owner and for sessions; present if `url` is TLS or not on loopback. */
  readonly local?: string
  readonly version: string
  /**
   * What `agentproto restart` does to its agents. SIGUSR2 restarts such a gateway, and SIGQUIT ends it without the agents that are
   * kept. Absent for a program that embeds the gateway, and for an older one: these signals would kill them.
   */
  readonly onRestart?: 'keeps-agents' | 'ends-agents'
}

/** The home of an environment: `AGENTPROTO_HOME`, else `.agentproto` in the user's folder. */
export const homeFrom = (env: Readonly<Record<string, string | undefined>>, userHome: string): string =>
  env['AGENTPROTO_HOME'] || `${userHome}/.agentproto`
