import {
  type AgentNotice,
  asNumber,
  asRecord,
  asString,
  type ContentBlock,
  defined,
  isRecord,
  type Json,
  plainLine,
  type StreamError,
} from '@agentproto/contracts'

/** Reads what an agent sends, of which nothing is sure. */

/** A JSON object or list, or nothing: agents print banners and warnings between their messages. */
export function parseLine(line: string): unknown {
  if (!line.startsWith('{') && !line.startsWith('[')) return undefined
  try {
    return JSON.parse(line) as unknown
  } catch {
    return undefined
  }
}

/**
 * Takes a message of an agent. One that cannot be taken is dropped, such as one that is nested deeper than the stack, or has an
 * object called `toString` where a text should be: an error in the reader of a pipe would end the host with all its agents.
 * @returns what is said of a message that was dropped
 */
export function takeOrDrop(take: () => void): AgentNotice | undefined {
  try {
    take()
    return undefined
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    return { type: 'notice', severity: 'error', text: `A message of the agent was dropped: ${why}` }
  }
}

/** Whether a request can be answered by its id (JSON-RPC 2.0 §4). */
export const isRequestId = (id: unknown): id is string | number => typeof id === 'string' || typeof id === 'number'

/** The error of a prompt that the agent answered with a JSON-RPC error. */
export function promptError(error: Json): Omit<StreamError, 'type'> {
  const { code, data } = error
  const agentCode = asNumber(code) ?? asString(code)
  return { message: rpcErrorText(error) ?? 'The agent failed the prompt', ...defined({ agentCode, data }) }
}

/**
 * What a JSON-RPC error says, on one line where the reason is not in its message: SDKs of agents write `Internal error`, and put
 * the reason into `data`.
 */
export function rpcErrorText({ message, data }: Json): string | undefined {
  const said = asString(message)
  const { details, message: inner } = asRecord(data)
  const reason = plainLine(asString(data) ?? asString(details) ?? asString(inner) ?? '', REASON_CHARS)
  if (reason === '' || said?.includes(reason) === true) return said
  return said === undefined || said === '' ? reason : `${said}: ${reason}`
}

const REASON_CHARS = 500

/** Whether a value is a content block, whose shapes MCP and ACP share. */
export function isContentBlock(value: unknown): value is ContentBlock {
  const block = asRecord(value)
  const has = (...names: readonly string[]): boolean => names.every((name) => typeof block[name] === 'string')
  switch (block['type']) {
    case 'text':
      return has('text')
    case 'image':
    case 'audio':
      return has('data', 'mimeType')
    case 'resource_link':
      return has('uri', 'name')
    case 'resource':
      return isRecord(block['resource']) && typeof block['resource']['uri'] === 'string'
    default:
      return false
  }
}
