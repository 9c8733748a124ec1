import type { AgentObservation } from '@agentproto/contracts/wire'
import type { CliUserOptions } from './cli-user.mjs'

/**
 * `no handshake` and `not installed` are the agent's own doing, or that of its packages; `failed` and `leaves something` are not.
 */
export type SweepResult = 'ok' | 'no handshake' | 'not installed' | 'failed' | 'leaves something'

export interface SweptEntry {
  readonly id: string
  readonly result: SweepResult
  readonly error?: { readonly code: string; readonly message: string }
  /** Of the installed agent. */
  readonly version?: string
  readonly mb?: number
  readonly observed?: AgentObservation
  /** What the command that added it said. */
  readonly notes: string
  /** Processes, files and folders that should not be there after it was removed. */
  readonly left: readonly string[]
}

export interface SweepOptions extends CliUserOptions {
  readonly id: string
  /** Address of a registry document. */
  readonly registry: string
  /** In place of that of the entry. */
  readonly version?: string
  /** Whether npm runs the scripts of packages. Default: it does not. */
  readonly allowScripts?: boolean
}

/**
 * Adds an agent of a registry by its name into a new home, asks it what it offers, starts a session where it needs no login, removes
 * it, and looks for what is left.
 */
export function sweepEntry(options: SweepOptions): Promise<SweptEntry>
