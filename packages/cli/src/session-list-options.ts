import { defined, SESSION_STATES, type SessionStateName } from '@agentproto/contracts'
import type { SessionFilter } from '@agentproto/contracts/wire'
import type { CliCommand } from './cli-command.js'
import { toMilliseconds } from './duration-option.js'

/** Which sessions a list shows. */
export interface SessionListOptions {
  readonly alive?: boolean
  readonly all?: boolean
  readonly state?: SessionStateName
  readonly adapter?: string
  readonly workspace?: string
  readonly label?: string
  readonly host?: string
  /** Milliseconds. */
  readonly since?: number
}

/** Sessions that ended longer ago than this, in milliseconds, are hidden. */
const HIDDEN_AFTER_MS = 86_400_000

export const addSessionListOptions = (command: CliCommand): CliCommand =>
  command
    .option('--alive', 'only those with a running agent')
    .choice('--state <state>', 'only those in this state', SESSION_STATES)
    .option('--workspace <slug>', 'only those of this workspace')
    .option('--adapter <slug>', 'only those of this agent')
    .option('--label <label>', 'only those with this label')
    .option('--host <name>', 'only those of this host')
    .option('--since <time>', 'only those that were active since then: 30m, 12h, 7d', toMilliseconds)
    .option('--all', 'also those that ended more than a day ago')

/** @param now Milliseconds since the epoch */
export function filterOf(options: SessionListOptions, now: number): SessionFilter {
  const { alive, all, state, adapter, workspace, label, host, since } = options
  const ago = (ms: number): string => new Date(now - ms).toISOString()
  return defined({
    onlyAlive: alive,
    state,
    adapter,
    workspace,
    label,
    host,
    since: since === undefined ? undefined : ago(since),
    endedSince: all === true ? undefined : ago(HIDDEN_AFTER_MS),
  })
}

/** What is said where no session is listed. */
export function noSessions({ alive, state, adapter, workspace, label, host, since }: SessionListOptions): string {
  const isFiltered = [alive, state, adapter, workspace, label, host, since].some((given) => given !== undefined)
  return isFiltered
    ? 'No session matches these options. To list all: agentproto sessions --all'
    : 'No sessions. Start one with: agentproto sessions start demo'
}

/** The footer about sessions that are not shown; undefined for none. */
export const hiddenNote = (hidden = 0): string | undefined =>
  hidden === 0 ? undefined : `${hidden} ended hidden: --all shows them`
