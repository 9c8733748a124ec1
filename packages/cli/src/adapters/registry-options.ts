import { AgentprotoError } from '@agentproto/contracts'
import type { FoundAgents, RegistryState } from '@agentproto/contracts/wire'
import { paintFor, type CliContext } from '../cli-context.js'
import { ageSince } from '../render/age.js'
import { oneLine } from '../render/printable.js'

/** How the registry is read. */
export interface ReadOptions {
  readonly refresh?: boolean
  readonly offline?: boolean
}

/** @throws `invalid_request` for both */
export function readMode({ refresh, offline }: ReadOptions): 'refresh' | 'offline' | undefined {
  if (refresh === true && offline === true)
    throw new AgentprotoError('invalid_request', 'The registry cannot be asked and not be asked', {
      expected: 'one of --refresh and --offline',
    })
  if (refresh === true) return 'refresh'
  return offline === true ? 'offline' : undefined
}

/** Where the agents come from, how old that is, and what is wrong with it: for stderr. */
export function registryNote(
  context: CliContext,
  { registry, warning }: Pick<FoundAgents, 'registry' | 'warning'>,
): string {
  const paint = paintFor(context, context.stderr)
  const warnings = [warning, registry?.warning].filter((each) => each !== undefined)
  return [
    ...(registry === undefined ? [] : [paint.dim(sourceLine(registry))]),
    ...warnings.map((each) => `${paint.yellow('!')} ${oneLine(each)}`),
  ].join('\n')
}

function sourceLine({ source, agents, problems, confirmedAt }: RegistryState): string {
  const age = confirmedAt === undefined ? '' : `, ${ageSince(confirmedAt)} old`
  const faults = problems.length === 0 ? '' : `; ${problems.length} problems in it, see --json`
  return `${agents} agents of ${oneLine(source)}${age}${faults}`
}
