import { asRecord } from '@agentproto/contracts'
import { observedAgentSchema } from '@agentproto/contracts/wire'
import { readSchema } from '@agentproto/manifest/node'
import { expect, test } from 'vitest'
import * as z from 'zod'

test('18.3 the JSON Schema of a manifest has the same members of what was measured as the answer of the gateway', async () => {
  const { $defs } = await readSchema('agent-cli')
  const { agentObservation, failedObservation, observedAgent } = asRecord($defs)
  const { anyOf } = z.toJSONSchema(observedAgentSchema)
  expect([agentObservation, failedObservation]).toEqual(inManifest(anyOf))
  expect(observedAgent).toMatchObject({ if: { required: ['failed'] } })
})

const SNAKE = /[A-Z]/g
const snake = (key: string): string => key.replace(SNAKE, (letter) => `_${letter.toLowerCase()}`)

/** A schema of zod as the one of a manifest has it: keys in its style, without descriptions and without what every value fits. */
function inManifest(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(inManifest)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.entries(schema).filter(([key, value]) => isKept(schema, key, value))
  return Object.fromEntries(
    members.map(([key, value]: [string, unknown]) => {
      if (key === 'required') return [key, z.array(z.string()).parse(value).map(snake)]
      if (key !== 'properties') return [key, inManifest(value)]
      const properties = Object.entries(asRecord(value))
      return [key, Object.fromEntries(properties.map(([name, property]) => [snake(name), inManifest(property)]))]
    }),
  )
}

function isKept(schema: object, key: string, value: unknown): boolean {
  if (key === 'description') return false
  if (key === 'pattern' && 'format' in schema) return false
  return !(['minimum', 'maximum'].includes(key) && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER)
}
