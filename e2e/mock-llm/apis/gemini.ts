import { halves, newId, type Answer, type AnswerWriter, type Frame, type ToolUse } from '../answer.js'
import { contentText, toolOf, userMessages, type Conversation, type Message } from '../conversation.js'
import { listOf, objectOf, textOf, type JsonObject } from '../json.js'
import type { Api, WriterContext } from './api.js'

const PATH = /\/models\/([^/:]+):(generateContent|streamGenerateContent)$/

/** Gemini's generateContent and streamGenerateContent. */
export const gemini: Api = { name: 'gemini', path: PATH, read, writer, errorBody }

function read(body: JsonObject, path: string): Conversation {
  const [, model = 'mock', method] = PATH.exec(path) ?? []
  const config = objectOf(body['generationConfig'])
  const wantsJson = textOf(config['responseMimeType']).includes('json')
  return {
    model,
    system: contentText(objectOf(body['systemInstruction'] ?? body['system_instruction'])['parts']),
    messages: listOf(body['contents']).flatMap((content) => toMessages(objectOf(content))),
    tools: listOf(body['tools']).flatMap(declaredTools),
    stream: method === 'streamGenerateContent',
    ...(wantsJson && { answerSchema: objectOf(config['responseJsonSchema'] ?? config['responseSchema']) }),
  }
}

const declaredTools = (group: unknown) => {
  const { functionDeclarations, function_declarations: older } = objectOf(group as JsonObject)
  return listOf(functionDeclarations ?? older).map((declaration) => {
    const { name, parametersJsonSchema, parameters } = objectOf(declaration)
    return toolOf({ name, schema: parametersJsonSchema ?? parameters })
  })
}

function toMessages({ role, parts }: JsonObject): readonly Message[] {
  const list = listOf(parts).map(objectOf)
  const texts = list.filter(({ text, thought }) => typeof text === 'string' && thought !== true)
  if (role === 'model') return [{ role: 'assistant', text: contentText(texts) }]
  const results = list.filter(({ functionResponse }) => functionResponse !== undefined)
  return [...results.map(toResult), ...userMessages(texts)]
}

function toResult({ functionResponse }: JsonObject): Message {
  const { name, response } = objectOf(functionResponse)
  return { role: 'tool', text: JSON.stringify(response), toolName: textOf(name) }
}

function writer(answer: Answer, { model, tokens }: WriterContext): AnswerWriter {
  const responseId = newId('mock_')
  const usageMetadata = {
    promptTokenCount: tokens.input,
    candidatesTokenCount: tokens.output,
    totalTokenCount: tokens.input + tokens.output,
  }
  const response = (parts: readonly JsonObject[], finish: JsonObject = {}): JsonObject => ({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...finish }],
    usageMetadata,
    modelVersion: model,
    responseId,
  })
  const frame = (part: JsonObject, finish?: JsonObject): Frame => ({ data: response([part], finish) })
  const finish = { finishReason: { end: 'STOP', 'max-tokens': 'MAX_TOKENS', refusal: 'SAFETY' }[answer.stop] }

  return {
    open: () => [],
    thought: (text) => halves(`**Mock thought** ${text}`).map((half) => frame({ text: half, thought: true })),
    text: (text) => [frame({ text })],
    call: (call) => [frame({ functionCall: functionCall(call), thoughtSignature: 'bW9jaw==' })],
    close: () => [frame({ text: '' }, finish)],
    whole: () => {
      const text = answer.chunks.length > 0 ? [{ text: answer.chunks.join('') }] : []
      return response([...text, ...answer.calls.map((call) => ({ functionCall: functionCall(call) }))], finish)
    },
  }
}

const functionCall = ({ id, name, input }: ToolUse): JsonObject => ({ id, name, args: input })

function errorBody(status: number, message: string): JsonObject {
  const names: Record<number, string> = { 400: 'INVALID_ARGUMENT', 401: 'UNAUTHENTICATED', 429: 'RESOURCE_EXHAUSTED' }
  return { error: { code: status, message, status: names[status] ?? 'INTERNAL' } }
}
