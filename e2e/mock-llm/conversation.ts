import { isObject, listOf, objectOf, textOf, type Json, type JsonObject } from './json.js'

/** A request of any API, in one format. */
export interface Conversation {
  readonly model: string
  readonly system: string
  readonly messages: readonly Message[]
  readonly tools: readonly Tool[]
  /** JSON Schema of the answer. */
  readonly answerSchema?: JsonObject
  /** Whether to stream the answer. */
  readonly stream: boolean
}

export interface Message {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly text: string
  /** For a tool result: the tool. */
  readonly toolName?: string
}

export interface Tool {
  readonly name: string
  /** Codex groups the tools of an MCP server. */
  readonly namespace?: string
  readonly schema: JsonObject
  /** `custom` takes free text instead of arguments. */
  readonly kind: string
}

export const toolOf = (tool: { name: Json | undefined; schema: Json | undefined; kind?: Json | undefined }): Tool => ({
  name: textOf(tool.name),
  schema: objectOf(tool.schema),
  kind: textOf(tool.kind) || 'function',
})

/** All text in a piece of content, at any nesting of the API. */
export function contentText(content: Json | undefined): string {
  if (typeof content === 'string') return content
  if (Array.isArray(content)) return content.map(contentText).filter(Boolean).join('\n')
  if (!isObject(content)) return ''
  if (typeof content['text'] === 'string') return content['text']
  if (content['content'] !== undefined) return contentText(content['content'])
  const output = content['output']
  return output === undefined ? '' : textOf(output) || JSON.stringify(output)
}

/**
 * One part of a user message counts as one message: agents join messages without an answer in between, such as
 * after a cancel, and put their own reminders beside them.
 */
export function userMessages(content: Json | undefined): readonly Message[] {
  const parts = typeof content === 'string' ? [content] : listOf(content)
  return parts
    .map(contentText)
    .filter((text) => withoutInjections(text) !== '')
    .map((text) => ({ role: 'user', text }))
}

/** Cuts what agents inject into a user's message: `<system-reminder>…</system-reminder>` and its like. */
function withoutInjections(text: string): string {
  let before = ''
  let after = text
  while (after !== before) {
    before = after
    after = after.replace(/<([a-zA-Z][\w-]*)(?:\s[^>]*)?>[^]*?<\/\1>/g, '')
  }
  return after.replace(/^# AGENTS\.md instructions[^]*$/m, '').trim()
}

/** The last message of the user, the earlier ones, and the tool results since. */
export interface Turn {
  readonly last: string
  readonly earlier: readonly string[]
  readonly results: readonly Message[]
}

/** A paragraph counts as a message; a note about an interruption does not. */
export function currentTurn(messages: readonly Message[]): Turn {
  const split = messages.flatMap((message) => (message.role === 'user' ? paragraphs(message.text) : [message]))
  const at = split.findLastIndex(({ role }) => role === 'user')
  const before = split.slice(0, Math.max(at, 0))
  return {
    last: split[at]?.text ?? '',
    earlier: before.filter(({ role }) => role === 'user').map(({ text }) => text),
    results: split.slice(at + 1).filter(({ role }) => role === 'tool'),
  }
}

function paragraphs(text: string): readonly Message[] {
  return withoutInjections(text)
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '' && !paragraph.startsWith('[Request interrupted'))
    .map((paragraph) => ({ role: 'user', text: paragraph }))
}
