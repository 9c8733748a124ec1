import { AgentprotoError, isAgentprotoError } from '@agentproto/contracts'
import { commandLine, isRepeatable } from './command-line.js'
import { nearest } from './nearest.js'

/**
 * The failure for a name that does not exist, with the same command and the nearest name that does. The error says which
 * name was given, and in `data.known` which there are.
 */
export function withMeantName(argv: readonly string[], thrown: unknown): unknown {
  if (!isAgentprotoError(thrown)) return thrown
  const { given, hint, data, ...parts } = thrown.parts
  const at = typeof given === 'string' ? argv.lastIndexOf(given) : -1
  const name = at < 0 ? undefined : nearest((argv[at] ?? '').toLowerCase(), namesIn(data?.['known']))
  if (name === undefined) return thrown
  const meant = [...argv.slice(0, at), name, ...argv.slice(at + 1)]
  if (!isRepeatable(meant)) return thrown
  const step = [`Did you mean: ${commandLine(meant)}?`, hint].filter(Boolean).join(' ')
  const what = hint === undefined ? thrown.message : thrown.message.replace(hint, '').replace(/[\s.]+$/, '')
  const error = new AgentprotoError(thrown.code, what, { ...parts, hint: step, cause: thrown })
  error.message = `${what}. ${step.replace(/[\s.]+$/, '')}.`
  return error
}

const namesIn = (known: unknown): readonly string[] => (Array.isArray(known) ? known.filter(isName) : [])

/** A label may begin with a dash, and would be read as an option. */
const isName = (name: unknown): name is string => typeof name === 'string' && !name.startsWith('-')
