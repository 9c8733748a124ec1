import type { Redactor, Secrets } from '@agentproto/secrets'
import type { SetupInput } from '@agentproto/contracts'
import type { AgentHost } from '@agentproto/driver-agent-cli'

/** The host as installers, checks and setups see it. */
export interface ProvisionHost extends AgentHost {
  readonly secrets: Secrets
  readonly redactor: Redactor
  /** A person; without one, what needs one is reported as pending. */
  readonly terminal?: Terminal
  /** What this machine is, in Node's words. Default: what it is. */
  readonly platform?: { readonly os: NodeJS.Platform; readonly arch: NodeJS.Architecture }
  /** Gets the parts of an oauth secret by whatever flow the host has for it. */
  readonly oauth?: (slug: string, signal: AbortSignal) => Promise<OauthParts>
}

export interface OauthParts {
  readonly accessToken: string
  readonly refreshToken?: string
  readonly expiresAt?: string
}

/** What a person at a terminal is asked. */
export type Question = Extract<SetupInput, { kind: 'value' }>

/** A person at a terminal, as far as a setup needs one. */
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
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}
