/** The files below `AGENTPROTO_HOME`. Directories are 0700, files 0600. */
export interface HomeLayout {
  readonly root: string
  readonly sessions: string
  readonly sessionsIndex: string
  readonly workspaces: string
  /** Folders whose adapters the owner trusts. */
  readonly trusted: string
  readonly config: string
  /** `{pid, startedAt, url, local?, version}` of the gateway that serves this home. */
  readonly daemon: string
  /** The owner's token. */
  readonly token: string
  /** Named tokens, as hashes. */
  readonly tokens: string
  readonly secrets: string
  readonly crashBundles: string
  readonly logs: string
  /** Adapters that the owner added. */
  readonly adapters: string
  /** Agents installed for this home, one npm prefix per agent. */
  readonly agents: string
  /** Private homes of agents, one folder per adapter, for the policy `isolated`. */
  readonly homes: string
  /** Permission rules of workspaces, one file per workspace. */
  readonly rules: string
  /** The install and setup state of agents, one file per adapter. */
  readonly provisioning: string
}

/** What `daemon.json` holds. */
export interface DaemonRecord {
  readonly pid: number
  /** ISO-8601. */
  readonly startedAt: string
  readonly url: string
  /**
   * Plain HTTP on loopback for programs of this machine, with the token of the owner or of a session; present if `url` is TLS
   * or not on loopback.
   */
  readonly local?: string
  readonly version: string
}

/** The layout below a root; creates no files. */
export function homeLayout(root: string): HomeLayout {
  const at = (name: string): string => `${root}/${name}`
  return {
    root,
    sessions: at('sessions'),
    sessionsIndex: at('sessions.json'),
    workspaces: at('workspaces.json'),
    trusted: at('trusted.json'),
    config: at('config.json'),
    daemon: at('daemon.json'),
    token: at('token'),
    tokens: at('tokens.json'),
    secrets: at('secrets.json'),
    crashBundles: at('crash-bundles'),
    logs: at('logs'),
    adapters: at('adapters'),
    agents: at('agents'),
    homes: at('homes'),
    rules: at('rules'),
    provisioning: at('provisioning'),
  }
}

/** The home of an environment: `AGENTPROTO_HOME`, else `.agentproto` in the user's folder. */
export const homeFrom = (env: Readonly<Record<string, string | undefined>>, userHome: string): string =>
  env['AGENTPROTO_HOME'] || `${userHome}/.agentproto`
