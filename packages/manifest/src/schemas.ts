import acp from './schemas/acp.schema.json' with { type: 'json' }
import agentCli from './schemas/agent-cli.schema.json' with { type: 'json' }
import blocks from './schemas/blocks.schema.json' with { type: 'json' }
import config from './schemas/config.schema.json' with { type: 'json' }
import runner from './schemas/runner.schema.json' with { type: 'json' }
import sandbox from './schemas/sandbox.schema.json' with { type: 'json' }
import secrets from './schemas/secrets.schema.json' with { type: 'json' }
import workspaces from './schemas/workspaces.schema.json' with { type: 'json' }

/** The JSON Schemas (draft 2020-12) by their file name without `.schema.json`. */
export const schemas = { 'agent-cli': agentCli, acp, secrets, sandbox, runner, config, workspaces, blocks } as const

export type SchemaName = Exclude<keyof typeof schemas, 'blocks'>

/** The JSON Schema of a gateway's config.json: its keys with description, type, bounds and default. */
export const configSchema: Readonly<Record<string, unknown>> = config
