import { schemas } from './schema-registry.js'

/** The JSON Schema of a gateway's config.json: its keys with description, type, bounds and default. */
export const configSchema: Readonly<Record<string, unknown>> = schemas.config
