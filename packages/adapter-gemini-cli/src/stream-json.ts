import { parseLine } from '@agentproto/arm-kit'
import {
  asNumber,
  asRecord,
  asString,
  defined,
  isRecord,
  type Json,
  type StreamError,
  type TokenUsage,
  type ToolKind,
} from '@agentproto/contracts'
import type { AgentCliEvent } from '@agentproto/contracts/agent'

/** The end of a turn as Gemini CLI reports it. */
export interface GeminiResult {
  readonly error?: Omit<StreamError, 'type'>
  readonly usage?: TokenUsage
}

/** One line of `--output-format stream-json`. */
export interface GeminiLine {
  readonly events: readonly AgentCliEvent[]
  readonly result?: GeminiResult
}

/** Reads one line of stdout. A line that is not JSON becomes output, a line of unknown type an extension. */
export function readLine(line: string): GeminiLine {
  const event = asRecord(parseLine(line))
  if (typeof event['type'] !== 'string')
    return { events: line.trim() === '' ? [] : [{ type: 'output', stream: 'stdout', text: line }] }
  return event['type'] === 'result' ? { events: [], result: resultOf(event) } : { events: eventsOf(event) }
}

function eventsOf(event: Json): readonly AgentCliEvent[] {
  switch (event['type']) {
    case 'init':
      return modelOf(event)
    case 'message':
      return message(event)
    case 'tool_use':
      return toolUse(event)
    case 'tool_result':
      return toolResult(event)
    case 'error': {
      const text = asString(event['message']) ?? JSON.stringify(event)
      return [{ type: 'notice', severity: event['severity'] === 'warning' ? 'warning' : 'error', text }]
    }
    default:
      return extension(event)
  }
}

const extension = (event: Json): readonly AgentCliEvent[] => [
  { type: 'extension', kind: asString(event['type']) ?? 'unknown', payload: event },
]

/** The model that Gemini chose; there is no list to choose from. */
function modelOf({ model }: Json): readonly AgentCliEvent[] {
  return typeof model === 'string' ? [{ type: 'config', config: { modelId: model } }] : []
}

function message(event: Json): readonly AgentCliEvent[] {
  const content = asString(event['content'])
  // The first message repeats the prompt.
  if (event['role'] === 'user' || content === '') return []
  return content === undefined ? extension(event) : [{ type: 'text-delta', text: content }]
}

const KINDS: Readonly<Record<string, ToolKind>> = {
  read_file: 'read',
  read_many_files: 'read',
  list_directory: 'read',
  write_file: 'edit',
  replace: 'edit',
  glob: 'search',
  grep_search: 'search',
  search_file_content: 'search',
  google_web_search: 'fetch',
  web_fetch: 'fetch',
  run_shell_command: 'execute',
}

function toolUse(event: Json): readonly AgentCliEvent[] {
  const { tool_id: id, tool_name: name, parameters } = event
  if (typeof id !== 'string') return extension(event)
  const toolName = asString(name)
  const input = asRecord(parameters)
  const path = asString(input['file_path']) ?? asString(input['path'])
  return [
    {
      type: 'tool-call',
      toolCallId: id,
      status: 'in_progress',
      input: parameters,
      ...defined({
        toolName,
        title: asString(input['command']) ?? path ?? toolName,
        kind: toolName === undefined ? undefined : (KINDS[toolName] ?? 'other'),
        locations: path === undefined ? undefined : [{ path }],
      }),
    },
  ]
}

function toolResult(event: Json): readonly AgentCliEvent[] {
  const { tool_id: id, status, output, error } = event
  if (typeof id !== 'string') return extension(event)
  const text = output ?? asString(asRecord(error)['message'])
  return [
    {
      type: 'tool-result',
      toolCallId: id,
      status: status === 'success' ? 'completed' : 'failed',
      ...defined({ output: text }),
    },
  ]
}

function resultOf({ status, error, stats }: Json): GeminiResult {
  const usage = isRecord(stats) ? { usage: usageOf(stats) } : {}
  if (status === 'success') return usage
  const { message: why, type } = asRecord(error)
  return {
    ...usage,
    error: { message: asString(why) ?? 'Gemini CLI failed the prompt', ...defined({ agentCode: asString(type) }) },
  }
}

function usageOf(stats: Json): TokenUsage {
  return defined({
    inputTokens: asNumber(stats['input_tokens']),
    outputTokens: asNumber(stats['output_tokens']),
    totalTokens: asNumber(stats['total_tokens']),
    cachedReadTokens: asNumber(stats['cached']),
  })
}
