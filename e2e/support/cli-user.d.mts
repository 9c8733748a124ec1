export interface CommandEnd {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** Whether it was ended because it took too long. */
  readonly timedOut: boolean
}

/** A user of the command line with a home of its own. */
export interface CliUser {
  /** Folder of agentproto's state. Made by the first command. */
  readonly home: string
  /** Where its commands run. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Runs a command of the command line, without a terminal. */
  run(...args: readonly string[]): Promise<CommandEnd>
  /** Command lines of the processes that run with its folders. Linux only. */
  processes(): readonly string[]
  /** Those, its adapters and agents, and what is unfinished beside them. */
  left(): readonly string[]
  /** What is in the user's own home and temporary folder, where agents keep what is theirs once a session was started. */
  ownFiles(): readonly string[]
  /** Size of an installed agent. */
  megabytes(slug: string): number
  /** Ends what runs, and removes its folders. */
  end(): Promise<void>
}

export interface CliUserOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Of one command. Default: 15 minutes. */
  readonly timeoutMs?: number
}

export function createCliUser(options?: CliUserOptions): CliUser
