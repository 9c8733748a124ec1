/** The JSON Schemas, by their file name without `.schema.json`. */
export const SCHEMA_FILES = [
  'agent-cli',
  'acp',
  'secrets',
  'sandbox',
  'runner',
  'blocks',
  'config',
  'workspaces',
  'session',
  'stream-event',
] as const

export type SchemaFile = (typeof SCHEMA_FILES)[number]
