import { Ajv2020, type ErrorObject, type Options } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { type SchemaName, schemas } from '../schemas.js'

/** A validator of one schema, as ajv makes it: `errors` are those of the last call. */
export interface Validator {
  (value: unknown): boolean
  errors?: readonly ErrorObject[] | null
}

/**
 * Compiles a schema at its first use. The build replaces each module that calls this by the compiled code
 * (`build-validators.mjs`), because loading ajv and compiling the schemas takes 200 ms.
 */
export function compileValidator(name: SchemaName): Validator {
  let compiled: Validator | undefined
  const validate: Validator = (value) => {
    compiled ??= createAjv().getSchema(`${name}.schema.json`) as Validator
    const isValid = compiled(value)
    validate.errors = compiled.errors ?? null
    return isValid
  }
  return validate
}

/** An ajv that knows all schemas. */
export function createAjv(code: NonNullable<Options['code']> = {}): Ajv2020 {
  // `verbose` keeps the schema that refused a value: its title says what was expected.
  const ajv = new Ajv2020({ allErrors: true, verbose: true, strictTypes: false, code })
  addFormats.default(ajv, ['uri', 'date-time'])
  for (const schema of Object.values(schemas)) ajv.addSchema(schema)
  return ajv
}
