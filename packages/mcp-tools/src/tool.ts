import { defined, isRecord } from '@agentproto/contracts'
import { mcpServerSchema, parseWire, promptSchema, type ToolDefinition } from '@agentproto/contracts/wire'
import type { Tool as ListedTool } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { withParsedStrings } from './stringified.js'

type ObjectSchema = ListedTool['inputSchema']

/** An entry of the list of tools. */
export function listedTool(
  { name, description, input, output, hints = {} }: ToolDefinition,
  reads: boolean,
): ListedTool {
  const { destructive, idempotent, openWorld } = hints
  return {
    name,
    description,
    inputSchema: jsonSchema(input),
    outputSchema: jsonSchema(output),
    annotations: {
      readOnlyHint: reads,
      ...defined({ destructiveHint: destructive, idempotentHint: idempotent }),
      ...(openWorld === undefined ? { openWorldHint: false } : {}),
    },
  }
}

/** Parses the arguments of a call with the schema that the list shows. @throws `invalid_request` */
export function parseArguments({ input }: ToolDefinition, { inputSchema }: ListedTool, args: unknown): unknown {
  return parseWire(input, withParsedStrings(args ?? {}, inputSchema), 'arguments')
}

/**
 * The JSON Schema of a list, kept short, since it is part of the context of every agent (F74). Bounds of length are left to the
 * parser; the kinds of content blocks, and of MCP servers, are one object here.
 */
function jsonSchema(schema: z.ZodObject): ObjectSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input', override: shorten })
  return rest as ObjectSchema
}

type Override = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>

const shorten: Override = ({ zodSchema, jsonSchema: json }) => {
  if (zodSchema === promptSchema) json.anyOf = [{ type: 'string' }, { type: 'array', items: { type: 'object' } }]
  // `{}` takes anything, as does its absence.
  if (isEmpty(json.additionalProperties)) delete json.additionalProperties
  if (zodSchema === mcpServerSchema) {
    delete json.anyOf
    json.type = 'object'
  }
  for (const word of ['minLength', 'maxLength', 'minItems', 'maxItems', 'propertyNames'] as const) delete json[word]
}

const isEmpty = (schema: unknown): boolean => isRecord(schema) && Object.keys(schema).length === 0
