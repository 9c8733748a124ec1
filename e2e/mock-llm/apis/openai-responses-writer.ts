import { halves, inputText, newId, type Answer, type AnswerWriter, type Frame, type ToolUse } from '../answer.js'
import { textOf, type JsonObject } from '../json.js'
import type { WriterContext } from './api.js'

/** The stream of a response: items that are added, filled and done, numbered as one sequence. */
export function responsesWriter(answer: Answer, { model, tokens }: WriterContext): AnswerWriter {
  const fixed = { object: 'response', created_at: 1, parallel_tool_calls: true, tools: [] }
  const response = { ...fixed, id: newId('resp_'), model }
  const usage = {
    input_tokens: tokens.input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: tokens.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: tokens.input + tokens.output,
  }
  const { event, done, addItem, output } = createItems()
  const message = createMessage({ event, done, addItem })
  const inProgress = { ...response, status: 'in_progress', output: [], error: null, usage: null }
  const cut = answer.stop === 'max-tokens'
  const finished = (): JsonObject => ({
    ...response,
    status: cut ? 'incomplete' : 'completed',
    output: [...output],
    error: null,
    incomplete_details: cut ? { reason: 'max_output_tokens' } : null,
    usage,
  })

  return {
    open: () => ['response.created', 'response.in_progress'].map((type) => event(type, { response: inProgress })),
    thought: (text) => reasoning({ event, done, addItem }, `**Mock thought**\n\n${text}`),
    text: (chunk) => message.add(chunk),
    call: (call) => [...message.end(), ...callFrames({ event, done, addItem }, callItem(call))],
    close: () => [
      ...message.end(),
      event(cut ? 'response.incomplete' : 'response.completed', { response: finished() }),
    ],
    whole() {
      if (answer.chunks.length > 0) output.push(messageItem(newId('msg_'), answer.chunks.join('')))
      output.push(...answer.calls.map(callItem))
      return finished()
    },
  }
}

type Items = ReturnType<typeof createItems>
type ItemFrames = Pick<Items, 'event' | 'done' | 'addItem'>

function createItems() {
  let sequence = 0
  let items = 0
  const output: JsonObject[] = []

  function event(type: string, more: JsonObject): Frame {
    return { event: type, data: { type, sequence_number: sequence++, ...more } }
  }

  return {
    event,
    output,
    /** Announces an item; its index goes into every frame about it. */
    addItem(item: JsonObject): readonly [index: number, frame: Frame] {
      const index = items++
      return [index, event('response.output_item.added', { output_index: index, item })]
    },
    done(index: number, item: JsonObject): Frame {
      output.push(item)
      return event('response.output_item.done', { output_index: index, item })
    },
  }
}

/** Text goes into one message until something else comes. */
function createMessage({ event, done, addItem }: ItemFrames) {
  let open: { readonly id: string; readonly index: number; text: string } | undefined

  function start(): readonly Frame[] {
    const id = newId('msg_')
    const [index, added] = addItem({ ...messageItem(id, ''), status: 'in_progress', content: [] })
    open = { id, index, text: '' }
    return [added, event('response.content_part.added', { ...place(open), part: textPart('') })]
  }

  return {
    add(chunk: string): readonly Frame[] {
      const started = open ? [] : start()
      if (!open) return started
      open.text += chunk
      return [...started, event('response.output_text.delta', { ...place(open), delta: chunk })]
    },
    end(): readonly Frame[] {
      if (!open) return []
      const { id, index, text } = open
      const at = place(open)
      open = undefined
      return [
        event('response.output_text.done', { ...at, text }),
        event('response.content_part.done', { ...at, part: textPart(text) }),
        done(index, messageItem(id, text)),
      ]
    },
  }
}

const place = ({ id, index }: { id: string; index: number }): JsonObject => ({
  item_id: id,
  output_index: index,
  content_index: 0,
})

const textPart = (text: string): JsonObject => ({ type: 'output_text', text, annotations: [] })

const messageItem = (id: string, text: string): JsonObject => ({
  id,
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [textPart(text)],
})

function reasoning({ event, done, addItem }: ItemFrames, text: string): readonly Frame[] {
  const item = { id: newId('rs_'), type: 'reasoning', encrypted_content: 'bW9jaw==' }
  const [index, added] = addItem({ ...item, summary: [] })
  const at = { item_id: item.id, output_index: index, summary_index: 0 }
  const part = { type: 'summary_text', text }
  return [
    added,
    event('response.reasoning_summary_part.added', { ...at, part: { ...part, text: '' } }),
    ...halves(text).map((delta) => event('response.reasoning_summary_text.delta', { ...at, delta })),
    event('response.reasoning_summary_text.done', { ...at, text }),
    event('response.reasoning_summary_part.done', { ...at, part }),
    done(index, { ...item, summary: [part] }),
  ]
}

function callItem(call: ToolUse): JsonObject {
  const { id, name, namespace, freeText } = call
  const base = { call_id: id, name, status: 'completed' }
  if (call.kind === 'custom') return { ...base, type: 'custom_tool_call', id: newId('ctc_'), input: freeText ?? '' }
  const withNamespace = namespace === undefined ? base : { ...base, namespace }
  if (call.kind !== 'local_shell') {
    return { ...withNamespace, type: 'function_call', id: newId('fc_'), arguments: inputText(call) }
  }
  const command = ['bash', '-lc', textOf(call.input['command']) || 'true']
  const action = { type: 'exec', command, env: {} }
  return { call_id: id, status: 'completed', type: 'local_shell_call', id: newId('lsh_'), action }
}

/** What a call carries as text arrives in deltas; its item begins without it. */
function callFrames({ event, done, addItem }: ItemFrames, item: JsonObject): readonly Frame[] {
  const field = { function_call: 'arguments', custom_tool_call: 'input' }[textOf(item['type'])]
  const [index, added] = addItem(field === undefined ? item : { ...item, [field]: '', status: 'in_progress' })
  if (field === undefined) return [added, done(index, item)]
  const stem = field === 'input' ? 'response.custom_tool_call_input' : 'response.function_call_arguments'
  const at = { item_id: textOf(item['id']), output_index: index }
  const text = textOf(item[field])
  return [
    added,
    ...halves(text).map((delta) => event(`${stem}.delta`, { ...at, delta })),
    event(`${stem}.done`, { ...at, [field]: text }),
    done(index, item),
  ]
}
