import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { asRecord } from '@agentproto/contracts'
import type { SchemaFile } from './schema-names.js'

type JsonSchema = Readonly<Record<string, unknown>>

/** Absolute path of a JSON Schema (draft 2020-12). It refers to the files beside it. */
export const schemaPath = (name: SchemaFile): string =>
  fileURLToPath(new URL(`./schemas/${name}.schema.json`, import.meta.url))

/** A JSON Schema that is complete in itself: the shared blocks that it refers to are embedded under their own `$id`. */
export async function readSchema(name: SchemaFile): Promise<JsonSchema> {
  const text = await readFile(schemaPath(name), 'utf8')
  const schema = asRecord(JSON.parse(text))
  if (name === 'blocks' || !text.includes('"blocks.schema.json#')) return schema
  const blocks: unknown = JSON.parse(await readFile(schemaPath('blocks'), 'utf8'))
  return { ...schema, $defs: { ...asRecord(schema['$defs']), blocks } }
}
