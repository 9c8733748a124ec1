import { type Answer, type AnswerWriter } from '../answer.js'
import { contentText, toolOf, userMessages, type Conversation, type Message, type Tool } from '../conversation.js'
import { listOf, objectOf, textOf, type Json, type JsonObject } from '../json.js'
import { openAiError, type Api, type WriterContext } from './api.js'
import { responsesWriter } from './openai-responses-writer.js'

/** OpenAI Responses, which Codex speaks. */
export const openAiResponses: Api = {
  name: 'openai-responses',
  path: /\/responses\/?$/,
  read,
  writer: (answer: Answer, context: WriterContext): AnswerWriter => responsesWriter(answer, context),
  errorBody: openAiError,
}

function read(body: JsonObject): Conversation {
  const items = inputItems(body['input'])
  const toolNames = new Map(items.map(({ call_id: id, name, type }) => [textOf(id), textOf(name) || textOf(type)]))
  const format = objectOf(objectOf(body['text'])['format'])
  const system = items.filter(({ role }) => role === 'system' || role === 'developer')
  const moreTools = items.filter(({ type }) => type === 'additional_tools').flatMap(({ tools }) => listOf(tools))
  return {
    model: textOf(body['model']),
    system: [textOf(body['instructions']), ...system.map(({ content }) => contentText(content))].join('\n'),
    messages: items.flatMap((item) => toMessages(item, toolNames)),
    tools: [...listOf(body['tools']), ...moreTools].flatMap((tool) => flatTools(objectOf(tool))),
    stream: body['stream'] === true,
    ...(format['type'] === 'json_schema' && { answerSchema: objectOf(format['schema']) }),
  }
}

const inputItems = (input: Json | undefined): readonly JsonObject[] =>
  typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : listOf(input).map(objectOf)

function toMessages(item: JsonObject, toolNames: ReadonlyMap<string, string>): readonly Message[] {
  const type = textOf(item['type'])
  if (type.endsWith('_call_output')) {
    const toolName = toolNames.get(textOf(item['call_id'])) ?? 'tool'
    return [{ role: 'tool', text: contentText(item['output']), toolName }]
  }
  if (item['role'] === 'user') return userMessages(item['content'])
  if (item['role'] !== 'assistant' && !type.endsWith('_call')) return []
  return [{ role: 'assistant', text: contentText(item['content']) }]
}

/** A namespace holds the tools of an MCP server. */
function flatTools(tool: JsonObject, namespace?: string): readonly Tool[] {
  const { type, name, parameters, tools } = tool
  if (type === 'namespace') return listOf(tools).flatMap((one) => flatTools(objectOf(one), textOf(name)))
  const flat = toolOf({ name: name ?? type, schema: parameters, kind: type })
  return [namespace === undefined ? flat : { ...flat, namespace }]
}
