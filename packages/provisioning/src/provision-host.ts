import type { OauthValue, Redactor, Secrets } from '@agentproto/secrets'
import type { SetupInput } from '@agentproto/contracts/wire'
import type { AgentHost } from '@agentproto/driver-agent-cli'

/** The host of installers, checks and setups. */
export interface ProvisionHost extends AgentHost {
  readonly secrets: Secrets
  readonly redactor: Redactor
  /** The user's terminal; without one, steps that need one are reported as pending. */
  readonly terminal?: Terminal
  /** In the environment of installers: those that a killed process left are ended by it. */
  readonly installMarker?: string
  /** Called with a download that is unpacked, before anything of it is run. What it throws ends the install. */
  readonly acceptDownload?: (download: Download) => Promise<void>
  /** Platform of this machine, in Node's terms. Default: the actual one. */
  readonly platform?: { readonly os: NodeJS.Platform; readonly arch: NodeJS.Architecture }
  /** The host's own flow for the parts of an oauth secret. */
  readonly oauth?: (slug: string, signal: AbortSignal) => Promise<OauthParts>
}

/** A file that was downloaded. */
export interface Download {
  /** The address that was asked, before any redirect. */
  readonly url: string
  readonly sha256: string
  /** Whether its checksum was known before. */
  readonly verified: boolean
}

/** For the processes of one install. */
export const newInstallMarker = (): string => `install_${crypto.randomUUID()}`

export type OauthParts = Omit<OauthValue, 'kind'>

/** A question for the user at a terminal. */
export type Question = Extract<SetupInput, { kind: 'value' }>

/** The user's terminal, as far as a setup needs it. */
export interface Terminal {
  /** Asks for a value; a `secret` one is not shown. @throws `cancelled` */
  ask(question: Question, signal: AbortSignal): Promise<string | boolean>
  /** Shows a page's address, and opens it where there is a browser. */
  show(url: string): void
  /**
   * Gives the terminal to a program.
   * @param inTerminal runs it in this process's own terminal, for a terminal that is that one
   * @returns its exit code
   */
  run(program: TerminalProgram, inTerminal: () => Promise<number>): Promise<number>
}

export interface TerminalProgram {
  /** Absolute path; a script of Node's is run under this Node. */
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}
