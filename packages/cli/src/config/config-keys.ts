import { AgentprotoError, asRecord, asString, defined } from '@agentproto/contracts'
import { configSchema } from '@agentproto/manifest'

/** One key of config.json, as it is typed: `durability`, `sessions.idleMs`. */
export interface ConfigKey {
  readonly name: string
  readonly path: readonly string[]
  readonly description: string
  readonly type: 'integer' | 'boolean' | 'choice' | 'list' | 'map'
  readonly fallback?: unknown
}

/** All keys, in the order of the schema. */
export const configKeys = (): readonly ConfigKey[] => keysIn(configSchema, [])

/**
 * Finds a key by name. The members of a map are keys, too: `executables.claude`.
 * @throws `invalid_request`, naming the closest key
 */
export function configKey(name: string): ConfigKey {
  const keys = configKeys()
  const key = keys.find((each) => each.name === name)
  if (key !== undefined) return key
  const map = keys.find((each) => each.type === 'map' && name.startsWith(`${each.name}.`))
  if (map !== undefined) return { ...map, name, type: 'choice', path: [...map.path, name.slice(map.name.length + 1)] }
  const names = keys.map((each) => each.name)
  throw new AgentprotoError('invalid_request', 'No setting has this name', {
    given: name,
    hint: 'List all settings with: agentproto config list',
    data: { known: names },
  })
}

function keysIn(schema: Readonly<Record<string, unknown>>, path: readonly string[]): ConfigKey[] {
  return Object.entries(asRecord(schema['properties'])).flatMap(([name, value]) => {
    const property = asRecord(value)
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
    description: asString(property['description']) ?? '',
    type: Array.isArray(choices) ? 'choice' : (TYPES[asString(property['type']) ?? ''] ?? 'choice'),
    ...defined({ fallback: property['default'] }),
  }
}

const TYPES: Readonly<Record<string, ConfigKey['type']>> = {
  integer: 'integer',
  number: 'integer',
  boolean: 'boolean',
  array: 'list',
  object: 'map',
}
