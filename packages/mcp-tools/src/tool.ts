import { mcpServerSchema, parseWire, promptSchema } from '@agentproto/contracts'
import type { Tool as ListedTool, ToolAnnotations } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { withParsedStrings } from './stringified.js'
import type { Call } from './tool-services.js'

/** One tool: what the list says of it, and what it does. */
export interface Tool {
  readonly listed: ListedTool
  /** @throws AgentprotoError, which becomes a result with `isError` */
  call(args: unknown, call: Call): Promise<object>
}

export interface ToolSpec<I extends z.ZodObject> {
  readonly name: string
  readonly description: string
  readonly input: I
  readonly output: z.ZodObject
  readonly annotations: ToolAnnotations
  readonly run: (args: z.output<I>, call: Call) => Promise<object>
}

/** Makes a tool whose arguments are parsed by the schema that the list shows. */
export function defineTool<I extends z.ZodObject>({
  name,
  description,
  input,
  output,
  annotations,
  run,
}: ToolSpec<I>): Tool {
  const inputSchema = jsonSchema(input)
  return {
    listed: { name, description, inputSchema, outputSchema: jsonSchema(output), annotations },
    async call(args, call) {
      const given = parseWire(input, withParsedStrings(args ?? {}, inputSchema), 'arguments')
      const id = given['sessionId']
      if (typeof id === 'string') await call.reach(id)
      return run(given, call)
    },
  }
}

type ObjectSchema = ListedTool['inputSchema']

/**
 * The JSON Schema of a list, in few words: every agent pays for each with its context (F74). Bounds of length
 * are left to the parser, and the kinds of content blocks, as those of MCP servers, are one object here.
 */
function jsonSchema(schema: z.ZodObject): ObjectSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input', override: shorten })
  return rest as ObjectSchema
}

type Override = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>

const shorten: Override = ({ zodSchema, jsonSchema: json }) => {
  if (zodSchema === promptSchema) json.anyOf = [{ type: 'string' }, { type: 'array', items: { type: 'object' } }]
  // A schema that takes anything, said in so many words.
  if (isEmpty(json.additionalProperties)) delete json.additionalProperties
  if (zodSchema === mcpServerSchema) {
    delete json.anyOf
    json.type = 'object'
  }
  for (const word of ['minLength', 'maxLength', 'minItems', 'maxItems', 'propertyNames'] as const) delete json[word]
}

const isEmpty = (schema: unknown): boolean =>
  typeof schema === 'object' && schema !== null && Object.keys(schema).length === 0
