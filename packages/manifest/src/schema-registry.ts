import { Ajv2020 } from 'ajv/dist/2020.js'
import type { AnySchemaObject, ValidateFunction } from 'ajv/dist/2020.js'
import acp from './schemas/acp.schema.json' with { type: 'json' }
import agentCli from './schemas/agent-cli.schema.json' with { type: 'json' }
import blocks from './schemas/blocks.schema.json' with { type: 'json' }
import sandbox from './schemas/sandbox.schema.json' with { type: 'json' }
import secrets from './schemas/secrets.schema.json' with { type: 'json' }
import workspaces from './schemas/workspaces.schema.json' with { type: 'json' }

/** The JSON Schemas (draft 2020-12) by their file name without `.schema.json`. */
export const schemas = { 'agent-cli': agentCli, acp, secrets, sandbox, workspaces, blocks } as const

export type SchemaName = Exclude<keyof typeof schemas, 'blocks'>

let ajv: Ajv2020 | undefined

/** The compiled validator of a schema; compiled on first use, kept for the life of the process. */
export function validatorOf(name: SchemaName): ValidateFunction {
  ajv ??= createAjv()
  const validator = ajv.getSchema(`${name}.schema.json`)
  if (validator === undefined) throw new Error(`There is no schema ${name}.`)
  return validator
}

function createAjv(): Ajv2020 {
  const instance = new Ajv2020({
    allErrors: true,
    verbose: true,
    strict: true,
    // These two refuse `if`/`then` branches that lean on the type and properties of the schema around them.
    strictTypes: false,
    strictRequired: false,
    formats: { uri: (text: string) => URL.canParse(text), 'date-time': isDateTime },
  })
  for (const schema of Object.values(schemas)) instance.addSchema(schema as AnySchemaObject)
  return instance
}

const isDateTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text))
