import { halves, inputText, newId, type Answer, type AnswerWriter, type Frame } from '../answer.js'
import { contentText, toolOf, userMessages, type Conversation, type Message } from '../conversation.js'
import { listOf, objectOf, textOf, type Json, type JsonObject } from '../json.js'
import { openAiError, type Api, type WriterContext } from './api.js'

/** OpenAI chat completions, which most other vendors speak too. */
export const openAiChat: Api = {
  name: 'openai-chat',
  path: /\/chat\/completions\/?$/,
  read,
  writer,
  errorBody: openAiError,
}

function read(body: JsonObject): Conversation {
  const raw = listOf(body['messages']).map(objectOf)
  const toolNames = namesOfCalls(raw)
  const system = raw.filter(({ role }) => role === 'system' || role === 'developer')
  const answerSchema = objectOf(objectOf(body['response_format'])['json_schema'])['schema']
  return {
    model: textOf(body['model']),
    system: system.map(({ content }) => contentText(content)).join('\n'),
    messages: raw.flatMap((message) => toMessages(message, toolNames)),
    tools: listOf(body['tools']).map((tool) => {
      const { name, parameters } = objectOf(objectOf(tool)['function'])
      return toolOf({ name, schema: parameters })
    }),
    stream: body['stream'] === true,
    ...(answerSchema !== undefined && { answerSchema: objectOf(answerSchema) }),
  }
}

function namesOfCalls(messages: readonly JsonObject[]): ReadonlyMap<string, string> {
  const calls = messages.flatMap((message) => listOf(message['tool_calls']).map(objectOf))
  return new Map(calls.map((call) => [textOf(call['id']), textOf(objectOf(call['function'])['name'])]))
}

function toMessages(message: JsonObject, toolNames: ReadonlyMap<string, string>): readonly Message[] {
  const { role, content } = message
  if (role === 'user') return userMessages(content)
  if (role === 'assistant') return [{ role, text: contentText(content) }]
  if (role !== 'tool') return []
  return [{ role, text: contentText(content), toolName: toolNames.get(textOf(message['tool_call_id'])) ?? 'tool' }]
}

function writer(answer: Answer, { model, tokens }: WriterContext): AnswerWriter {
  const id = newId('chatcmpl-')
  const usage = {
    prompt_tokens: tokens.input,
    completion_tokens: tokens.output,
    total_tokens: tokens.input + tokens.output,
  }
  const chunk = (choices: readonly Json[], more: JsonObject = {}): Frame => ({
    data: { id, object: 'chat.completion.chunk', created: 1, model, choices, ...more },
  })
  const delta = (content: JsonObject): Frame => chunk([{ index: 0, delta: content, finish_reason: null }])
  const reason = finishReason(answer)
  let calls = 0

  return {
    open: () => [delta({ role: 'assistant', content: '' })],
    thought: (text) => halves(text).map((half) => delta({ reasoning_content: half })),
    text: (text) => [delta({ content: text })],
    call(call) {
      const index = calls++
      const start = { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }
      const parts = halves(inputText(call)).map((half) => ({ index, function: { arguments: half } }))
      return [start, ...parts].map((part) => delta({ tool_calls: [part] }))
    },
    close: () => [chunk([{ index: 0, delta: {}, finish_reason: reason }]), chunk([], { usage }), { data: '[DONE]' }],
    whole: () => ({
      id,
      object: 'chat.completion',
      created: 1,
      model,
      choices: [{ index: 0, finish_reason: reason, message: wholeMessage(answer) }],
      usage,
    }),
  }
}

function wholeMessage({ chunks, calls }: Answer): JsonObject {
  const message = { role: 'assistant', content: chunks.join('') }
  if (calls.length === 0) return message
  const toolCalls = calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: inputText(call) },
  }))
  return { ...message, tool_calls: toolCalls }
}

function finishReason({ calls, stop }: Answer): string {
  if (calls.length > 0) return 'tool_calls'
  return { end: 'stop', 'max-tokens': 'length', refusal: 'content_filter' }[stop]
}
