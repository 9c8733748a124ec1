import { halves, inputText, newId, type Answer, type AnswerWriter, type Frame } from '../answer.js'
import { contentText, toolOf, userMessages, type Conversation, type Message } from '../conversation.js'
import { listOf, objectOf, textOf, type JsonObject } from '../json.js'
import { errorType, type Api, type WriterContext } from './api.js'

/** Anthropic Messages. */
export const anthropic: Api = {
  name: 'anthropic',
  path: /\/messages\/?$/,
  read,
  writer,
  errorBody: (status, message) => ({ type: 'error', error: { type: errorType(status), message } }),
}

function read(body: JsonObject): Conversation {
  const raw = listOf(body['messages']).map(objectOf)
  const toolNames = namesOfCalls(raw)
  const format = objectOf(objectOf(body['output_config'])['format'] ?? body['output_format'])
  return {
    model: textOf(body['model']),
    system: contentText(body['system']),
    messages: raw.flatMap((message) => toMessages(message, toolNames)),
    tools: listOf(body['tools']).map((tool) => {
      const { name, input_schema: schema, type: kind } = objectOf(tool)
      return toolOf({ name, schema, kind })
    }),
    stream: body['stream'] === true,
    ...(format['type'] === 'json_schema' && { answerSchema: objectOf(format['schema']) }),
  }
}

const blocksOf = ({ content }: JsonObject): readonly JsonObject[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).map(objectOf)

function namesOfCalls(messages: readonly JsonObject[]): ReadonlyMap<string, string> {
  const uses = messages.flatMap(blocksOf).filter(({ type }) => type === 'tool_use')
  return new Map(uses.map(({ id, name }) => [textOf(id), textOf(name)]))
}

function toMessages(message: JsonObject, toolNames: ReadonlyMap<string, string>): readonly Message[] {
  const blocks = blocksOf(message)
  const texts = blocks.filter(({ type }) => type === 'text')
  if (message['role'] === 'assistant') return [{ role: 'assistant', text: contentText(texts) }]
  const results = blocks.filter(({ type }) => type === 'tool_result')
  return [
    ...results.map((result): Message => {
      const toolName = toolNames.get(textOf(result['tool_use_id'])) ?? 'tool'
      return { role: 'tool', text: contentText(result['content']), toolName }
    }),
    ...(message['role'] === 'user' ? userMessages(texts) : []),
  ]
}

function writer(answer: Answer, { model, tokens }: WriterContext): AnswerWriter {
  const usage = { input_tokens: tokens.input, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
  const message = { id: newId('msg_'), type: 'message', role: 'assistant', model, stop_sequence: null }
  const blocks = createBlocks()

  return {
    open: () => [
      event('message_start', {
        message: { ...message, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
      }),
      event('ping', {}),
    ],
    thought: (text) => [
      ...blocks.start({ type: 'thinking', thinking: '', signature: '' }),
      ...halves(text).map((thinking) => blocks.delta({ type: 'thinking_delta', thinking })),
      blocks.delta({ type: 'signature_delta', signature: 'bW9jaw==' }),
    ],
    text: (text) => [
      ...(blocks.current() === 'text' ? [] : blocks.start({ type: 'text', text: '' })),
      blocks.delta({ type: 'text_delta', text }),
    ],
    call: (call) => [
      ...blocks.start({ type: 'tool_use', id: toolUseId(call.id), name: call.name, input: {} }),
      ...halves(inputText(call)).map((half) => blocks.delta({ type: 'input_json_delta', partial_json: half })),
    ],
    close: () => [
      ...blocks.stop(),
      event('message_delta', {
        delta: { stop_reason: stopReason(answer), stop_sequence: null },
        usage: { ...usage, output_tokens: tokens.output },
      }),
      event('message_stop', {}),
    ],
    whole: () => ({
      ...message,
      content: wholeContent(answer),
      stop_reason: stopReason(answer),
      usage: { ...usage, output_tokens: tokens.output },
    }),
  }
}

const event = (type: string, more: JsonObject): Frame => ({ event: type, data: { type, ...more } })
const toolUseId = (id: string): string => id.replace('call_', 'toolu_')

/** Content blocks follow each other: one that starts ends the one before. */
function createBlocks() {
  let index = -1
  let open: string | undefined

  function stop(): readonly Frame[] {
    if (open === undefined) return []
    open = undefined
    return [event('content_block_stop', { index })]
  }

  return {
    current: () => open,
    stop,
    start(block: JsonObject): readonly Frame[] {
      const stopped = stop()
      index += 1
      open = textOf(block['type'])
      return [...stopped, event('content_block_start', { index, content_block: block })]
    },
    delta: (delta: JsonObject): Frame => event('content_block_delta', { index, delta }),
  }
}

function wholeContent({ chunks, calls }: Answer): readonly JsonObject[] {
  const text = chunks.length > 0 ? [{ type: 'text', text: chunks.join('') }] : []
  return [...text, ...calls.map(({ id, name, input }) => ({ type: 'tool_use', id: toolUseId(id), name, input }))]
}

function stopReason({ calls, stop }: Answer): string {
  if (calls.length > 0) return 'tool_use'
  return { end: 'end_turn', 'max-tokens': 'max_tokens', refusal: 'refusal' }[stop]
}
