import {
  FAILURE_KINDS,
  HOST_EVENT_TYPES,
  PERMISSION_MODES,
  PERMISSION_OPTION_KINDS,
  RULE_LIFETIMES,
  SESSION_HEALTHS,
  SESSION_STATES,
  SESSION_STATUSES,
  STOP_REASONS,
  STREAM_EVENT_TYPES,
  TOOL_KINDS,
  TURN_END_REASONS,
} from '@agentproto/contracts'
import { PROTOCOLS } from '@agentproto/contracts/agent'
import { INSTALL_METHODS, PACKAGE_MANAGERS } from '@agentproto/manifest'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ROOT } from '../packages.ts'

// `pnpm generate` runs this file with `--update`, which writes what is stale.

const SOURCES = join(ROOT, 'packages/manifest/src/schemas')

/** The lists of allowed values that come from a vocabulary of the code: schema, place, members. */
const ENUMS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  session: {
    'properties/state': SESSION_STATES,
    'properties/health': SESSION_HEALTHS,
    'properties/permissionMode': PERMISSION_MODES,
    'properties/delegation/properties/permissionMode': PERMISSION_MODES,
    '$defs/status': SESSION_STATUSES,
    '$defs/stopReason': STOP_REASONS,
    '$defs/failure/properties/kind': FAILURE_KINDS,
  },
  'stream-event': {
    'properties/type': [...STREAM_EVENT_TYPES, ...HOST_EVENT_TYPES],
    'allOf/5/then/properties/reason': TURN_END_REASONS,
    'allOf/12/then/properties/permissionMode': PERMISSION_MODES,
    '$defs/toolKind': TOOL_KINDS,
    '$defs/request/allOf/0/then/properties/options/items/properties/kind': PERMISSION_OPTION_KINDS,
    '$defs/answer/allOf/0/then/properties/remember': RULE_LIFETIMES,
    '$defs/status': SESSION_STATUSES,
    '$defs/stopReason': STOP_REASONS,
    '$defs/failure/properties/kind': FAILURE_KINDS,
  },
  'agent-cli': { 'properties/protocol': PROTOCOLS },
  blocks: {
    '$defs/installMethod/allOf/1/then/properties/method': INSTALL_METHODS,
    '$defs/installMethod/allOf/2/if/properties/method': PACKAGE_MANAGERS,
  },
}

const names = readdirSync(SOURCES).map((file) => file.replace('.schema.json', ''))

describe('a schema is generated; after a change of a vocabulary or of a schema run: pnpm generate', () => {
  test.each(names)('packages/manifest/src/schemas/%s.schema.json has the vocabularies of the code', async (name) => {
    await expect(generated(name)).toMatchFileSnapshot(join(SOURCES, `${name}.schema.json`))
  })

  test.each(names)('schemas/%s.schema.json is the same file, where people look for it', async (name) => {
    await expect(generated(name)).toMatchFileSnapshot(join(ROOT, 'schemas', `${name}.schema.json`))
  })
})

/** The text of a schema with its vocabularies filled in; the rest of the text stays as it is. */
function generated(name: string): string {
  const text = readFileSync(join(SOURCES, `${name}.schema.json`), 'utf8')
  const schema = JSON.parse(text) as Part
  return Object.entries(ENUMS[name] ?? {}).reduce((filled, [place, members]) => {
    const listed = partAt(schema, place)['enum']
    if (!Array.isArray(listed)) throw new Error(`${name}.schema.json has no list of values at ${place}`)
    return listed.join() === members.join() ? filled : filled.replaceAll(listOf(listed), lineOf(members))
  }, text)
}

/** The list as it stands in the text, on one line or several. Two lists of the same members are one vocabulary. */
const listOf = (members: readonly string[]): RegExp =>
  new RegExp(String.raw`"enum":\s*\[\s*${members.map((member) => `"${member}"`).join(String.raw`,\s*`)}\s*\]`, 'g')

const lineOf = (members: readonly string[]): string => `"enum": [${members.map((member) => `"${member}"`).join(', ')}]`

type Part = Record<string, unknown>

const partAt = (schema: Part, place: string): Part =>
  place.split('/').reduce((part, key) => (part[key] ?? {}) as Part, schema)
