import { AgentprotoError } from '@agentproto/contracts'
import { configSchema } from '@agentproto/manifest'

/** One key of config.json, as a person names it: `durability`, `sessions.idleMs`. */
export interface ConfigKey {
  readonly name: string
  readonly path: readonly string[]
  readonly description: string
  readonly type: 'integer' | 'boolean' | 'choice' | 'list' | 'map'
  readonly choices?: readonly string[]
  readonly fallback?: unknown
}

/** All keys, in the order of the schema. */
export const configKeys = (): readonly ConfigKey[] => keysIn(configSchema, [])

/**
 * The key of a name; of a map its members are keys too: `executables.claude`.
 * @throws `invalid_request`, naming what was probably meant
 */
export function configKey(name: string): ConfigKey {
  const keys = configKeys()
  const key = keys.find((each) => each.name === name)
  if (key !== undefined) return key
  const map = keys.find((each) => each.type === 'map' && name.startsWith(`${each.name}.`))
  if (map !== undefined) return { ...map, name, type: 'choice', path: [...map.path, name.slice(map.name.length + 1)] }
  const near = keys.filter((each) => each.name.toLowerCase().endsWith(name.split('.').at(-1)?.toLowerCase() ?? name))
  throw new AgentprotoError('invalid_request', 'There is no such key', {
    given: name,
    hint: near[0] === undefined ? 'See all keys with: agentproto config list' : `Did you mean ${near[0].name}?`,
  })
}

function keysIn(schema: Readonly<Record<string, unknown>>, path: readonly string[]): ConfigKey[] {
  return Object.entries(record(schema['properties'])).flatMap(([name, value]) => {
    const property = record(value)
    if (name.startsWith('$')) return []
    const here = [...path, name]
    return property['properties'] === undefined ? [keyOf(here, property)] : keysIn(property, here)
  })
}

function keyOf(path: readonly string[], property: Readonly<Record<string, unknown>>): ConfigKey {
  const choices = property['enum']
  return {
    name: path.join('.'),
    path,
    description: textOr(property['description'], ''),
    type: Array.isArray(choices) ? 'choice' : (TYPES[textOr(property['type'], '')] ?? 'choice'),
    ...(Array.isArray(choices) ? { choices: choices.map(String) } : {}),
    ...(property['default'] === undefined ? {} : { fallback: property['default'] }),
  }
}

const TYPES: Readonly<Record<string, ConfigKey['type']>> = {
  integer: 'integer',
  number: 'integer',
  boolean: 'boolean',
  array: 'list',
  object: 'map',
}

const textOr = (value: unknown, fallback: string): string => (typeof value === 'string' ? value : fallback)

const record = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
