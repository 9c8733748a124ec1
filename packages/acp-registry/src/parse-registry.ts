import { AgentprotoError, asRecord, asString, defined, isRecord, parseJson } from '@agentproto/contracts'
import { checkEntry } from './check-entry.js'
import type { Registry, RegistryEntry, RegistryProblem } from './registry-entry.js'

/** A larger document is refused before it is parsed. The public one has about 100 kB. */
export const REGISTRY_BYTES_MAX = 50 * 1024 * 1024
const PROBLEMS_MAX = 100
/** The public registry has about a hundred. */
const AGENTS_MAX = 10_000

/**
 * Reads the text of a registry document, or of one entry alone. An entry that cannot be used is left out and named in
 * `problems`; the others are read.
 * @param from Where it was read; absent for a file of the user
 * @throws `registry_invalid` for a text that is too large, no JSON, of another shape, or of an unknown version
 */
export function parseRegistry(text: string, from?: URL): Registry {
  const { version, agents } = documentOf(valueOf(text))
  const known = new Map<string, RegistryEntry>()
  const problems: RegistryProblem[] = []
  for (const [index, value] of agents.entries()) {
    const { entry, faults } = checkEntry(value, from)
    const place = { index, ...defined({ id: idOf(value) }) }
    if (entry === undefined || known.has(entry.id)) {
      const message =
        entry === undefined ? faults.join(' ') : `The id ${entry.id} is in the document twice. The first one counts.`
      problems.push({ ...place, entry: 'left-out', message })
      continue
    }
    known.set(entry.id, entry)
    problems.push(...faults.map((message) => ({ ...place, entry: 'kept' as const, message })))
  }
  return { version, agents: [...known.values()], problems: bounded(problems) }
}

function valueOf(text: string): unknown {
  const bytes = Buffer.byteLength(text)
  if (bytes > REGISTRY_BYTES_MAX) throw tooLarge()
  // Some servers write a mark of the byte order, which JSON does not allow.
  const value = parseJson(text.replace(/^\uFEFF/, ''))
  if (value !== undefined) return value
  throw invalid('The registry is not JSON', { expected: 'a JSON document', given: text.slice(0, 80) })
}

/** @throws `registry_invalid` */
export const tooLarge = (): AgentprotoError =>
  invalid('The registry is too large', { expected: `at most ${REGISTRY_BYTES_MAX / 1024 / 1024} MiB` })

interface RegistryDocument {
  readonly version: string
  readonly agents: readonly unknown[]
}

function documentOf(value: unknown): RegistryDocument {
  if (!isRecord(value)) throw invalid('The registry has another shape', { expected: SHAPE, given: typeOf(value) })
  // One entry alone is what an author has in a file.
  if (Object.hasOwn(value, 'distribution') && !Object.hasOwn(value, 'agents'))
    return { version: '1.0.0', agents: [value] }
  const { version, agents } = value
  if (typeof version !== 'string' || !/^1\.\d{1,6}\.\d{1,6}$/.test(version)) {
    throw invalid('This version of agentproto does not know the version of the registry document', {
      expected: 'version 1.0.0, or another one that begins with 1.',
      given: version ?? 'no version',
      hint: 'Use a newer agentproto, or the address of another registry in the setting registry.url',
    })
  }
  if (!Array.isArray(agents))
    throw invalid('The registry has no list of agents', { expected: SHAPE, given: typeOf(agents) })
  if (agents.length > AGENTS_MAX)
    throw invalid('The registry has too many agents', { expected: `at most ${AGENTS_MAX}`, given: agents.length })
  return { version, agents }
}

const SHAPE = 'an object with `version` and the list `agents`'

const typeOf = (value: unknown): string => (Array.isArray(value) ? 'a list' : value === null ? 'null' : typeof value)

/** The id as far as it can be shown. */
function idOf(value: unknown): string | undefined {
  const id = asString(asRecord(value)['id'])
  return id !== undefined && /^[\w.@/-]{1,80}$/.test(id) ? id : undefined
}

function bounded(problems: readonly RegistryProblem[]): readonly RegistryProblem[] {
  const last = problems[PROBLEMS_MAX - 1]
  if (last === undefined || problems.length === PROBLEMS_MAX) return problems
  const more = problems.length - PROBLEMS_MAX
  return [
    ...problems.slice(0, PROBLEMS_MAX - 1),
    { ...last, message: `${last.message} There are ${more} more problems.` },
  ]
}

const invalid = (what: string, parts: ConstructorParameters<typeof AgentprotoError>[2]): AgentprotoError =>
  new AgentprotoError('registry_invalid', what, { hint: OTHER_REGISTRY, ...parts })

const OTHER_REGISTRY = 'Check the address in the setting registry.url, or the file that you named'
