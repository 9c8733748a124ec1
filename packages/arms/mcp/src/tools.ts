import { AgentprotoError, asList, asRecord, asString, defined, isRecord, type Json } from '@agentproto/contracts'
import { SESSION_NAMES } from './profile.js'
import type { McpProfile } from './profile.js'

/** Names of the one required text by which a tool is seen to take a prompt. */
const PROMPT_NAMES: readonly string[] = ['prompt', 'message', 'input', 'query']

/** A tool as a turn calls it. */
export interface PromptTool {
  readonly name: string
  /** The argument that takes the prompt. */
  readonly argument: string
  /** The argument that takes the session's id, where there is one. */
  readonly session?: string
  /** Constant arguments. */
  readonly extra: Json
}

/** How this agent is talked with. */
export interface PromptTools {
  readonly prompt: PromptTool
  /** Continues a session; absent where every call goes to the prompt tool without naming one. */
  readonly reply?: PromptTool
}

/** What the manifest says of a tool. */
type Hint = NonNullable<McpProfile['data']['reply']>

interface Tool {
  readonly name: string
  readonly properties: Json
  readonly required: readonly string[]
}

/**
 * Finds the tools that take the first and the following prompts: those that the manifest names, else those that
 * look like it (AIP-45 `mcp`).
 * @param listed result of `tools/list`
 * @throws `handshake_failed` when there is none, or more than one that could be meant
 */
export function findPromptTools(listed: readonly unknown[], { data }: McpProfile): PromptTools {
  const tools = listed.flatMap(toolOf)
  const { prompt: named = {}, reply: answering = {} } = data
  const reply = replyTool(tools, answering)
  const first = named.tool === undefined ? guessPrompt(tools, reply) : byName(tools, named.tool)
  const prompt = asPromptTool(first, named)
  if (reply !== undefined) return { prompt, reply: asPromptTool(reply, answering) }
  // One tool for all turns: the session's id is one more argument of it.
  return prompt.session === undefined ? { prompt } : { prompt, reply: prompt }
}

function toolOf(entry: unknown): Tool[] {
  const { name, inputSchema } = asRecord(entry)
  if (typeof name !== 'string') return []
  const schema = asRecord(inputSchema)
  const required = asList(schema['required']).filter((key): key is string => typeof key === 'string')
  return [{ name, properties: asRecord(schema['properties']), required }]
}

/** The tool that the manifest names, or the only one that takes a prompt and the id of a session. */
function replyTool(tools: readonly Tool[], { tool, session }: Hint): Tool | undefined {
  if (tool !== undefined) return byName(tools, tool)
  const candidates = tools.filter(
    (each) => promptArgument(each) !== undefined && sessionArgument(each, session) !== undefined,
  )
  const [only] = candidates
  return candidates.length === 1 ? only : undefined
}

function guessPrompt(tools: readonly Tool[], reply: Tool | undefined): Tool {
  const taking = tools.filter((tool) => promptArgument(tool) !== undefined)
  const others = taking.filter((tool) => tool !== reply)
  const candidates = others.length > 0 ? others : taking
  const [only] = candidates
  if (only !== undefined && candidates.length === 1) return only
  const names = (which: readonly Tool[]): string => which.map(({ name }) => name).join(', ') || 'none'
  throw new AgentprotoError(
    'handshake_failed',
    candidates.length === 0
      ? 'No tool of the agent takes a prompt'
      : 'Several tools of the agent could take the prompt',
    {
      expected: `one tool with one required text named ${PROMPT_NAMES.join(', ')}`,
      given: names(candidates.length === 0 ? tools : candidates),
      hint: 'Name it in the manifest: metadata.agentproto.mcp.prompt.tool',
    },
  )
}

function byName(tools: readonly Tool[], name: string): Tool {
  const tool = tools.find((candidate) => candidate.name === name)
  if (tool !== undefined) return tool
  throw new AgentprotoError('handshake_failed', `The agent has no tool ${name}`, {
    expected: 'the tool that the manifest names',
    given: tools.map((candidate) => candidate.name).join(', ') || 'no tools',
  })
}

function asPromptTool(tool: Tool, { argument, session, arguments: extra = {} }: Hint): PromptTool {
  const takes = argument ?? promptArgument(tool)
  if (takes === undefined) {
    throw new AgentprotoError(
      'handshake_failed',
      `The tool ${tool.name} does not say which argument takes the prompt`,
      {
        expected: `one required text named ${PROMPT_NAMES.join(', ')}`,
        given: tool.required.join(', ') || 'nothing required',
        hint: 'Name it in the manifest: metadata.agentproto.mcp.prompt.argument',
      },
    )
  }
  return { name: tool.name, argument: takes, extra, ...defined({ session: sessionArgument(tool, session) }) }
}

/** The only required argument, beside the id of a session, if it is a text with such a name. */
function promptArgument({ properties, required }: Tool): string | undefined {
  const needed = required.filter((key) => !SESSION_NAMES.includes(key))
  const [only] = needed
  if (only === undefined || needed.length !== 1 || !PROMPT_NAMES.includes(only)) return undefined
  return isText(properties[only]) ? only : undefined
}

function sessionArgument({ properties }: Tool, named: string | undefined): string | undefined {
  return named ?? SESSION_NAMES.find((name) => isText(properties[name]))
}

/** Some schemas allow null beside the text. */
function isText(schema: unknown): boolean {
  if (!isRecord(schema)) return false
  const { type, anyOf } = schema
  if (Array.isArray(type)) return type.includes('string')
  return asString(type) === 'string' || (Array.isArray(anyOf) && anyOf.some(isText))
}

export interface CallContext {
  readonly prompt: string
  readonly session: string | undefined
  readonly cwd: string
}

/** The arguments of a call: the manifest's constants, in which `{cwd}` is filled, then the prompt and the session. */
export function callArguments(
  { argument, session: takesSession, extra }: PromptTool,
  { prompt, session, cwd }: CallContext,
): Json {
  return {
    ...(filled(extra, cwd) as Json),
    [argument]: prompt,
    ...(takesSession === undefined || session === undefined ? {} : { [takesSession]: session }),
  }
}

function filled(value: unknown, cwd: string): unknown {
  if (typeof value === 'string') return value.replaceAll('{cwd}', () => cwd)
  if (Array.isArray(value)) return value.map((item) => filled(item, cwd))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item, cwd)]))
}
