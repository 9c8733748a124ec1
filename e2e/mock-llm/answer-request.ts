import type { ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Answer, AnswerWriter, Frame, Misfortune, Tokens } from './answer.js'
import { anthropic } from './apis/anthropic.js'
import type { Api } from './apis/api.js'
import { gemini } from './apis/gemini.js'
import { openAiChat } from './apis/openai-chat.js'
import { openAiResponses } from './apis/openai-responses.js'
import { currentTurn, type Conversation } from './conversation.js'
import { decide } from './decide.js'
import type { JsonObject } from './json.js'

const APIS: readonly Api[] = [openAiChat, openAiResponses, anthropic, gemini]

/** One request and its outcome. */
export interface RequestRecord {
  readonly method: string
  readonly path: string
  api?: Api['name']
  model?: string
  /** The last message of the user. */
  last?: string
  /** The tools that the model called. */
  calls?: readonly string[]
  /** Set when the caller disconnected before the end, as for a cancelled turn. */
  aborted?: boolean
  error?: string
}

export interface ModelCall {
  readonly path: string
  readonly body: JsonObject
  readonly isEventStream: boolean
  readonly response: ServerResponse
}

/** @returns false when no API has this path */
export async function answerRequest(
  call: ModelCall,
  { record, chunkDelayMs }: { readonly record: RequestRecord; readonly chunkDelayMs: number },
): Promise<boolean> {
  const api = APIS.find(({ path }) => path.test(call.path))
  if (!api) return false
  const asked = api.read(call.body, call.path)
  const answer = decide(asked)
  record.api = api.name
  record.model = asked.model
  record.last = currentTurn(asked.messages).last
  call.response.once('close', () => (record.aborted = !call.response.writableFinished))
  if (answer.kind !== 'answer') {
    befall(answer, api, call)
    return true
  }
  record.calls = answer.calls.map(({ name }) => name)
  const writer = api.writer(answer, { model: asked.model, tokens: tokensOf(asked, answer) })
  if (asked.stream) await streamAnswer(answer, writer, { ...call, api, chunkDelayMs })
  else call.response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(writer.whole()))
  return true
}

function befall(misfortune: Misfortune, api: Api, { response }: ModelCall): void {
  switch (misfortune.kind) {
    case 'mute':
      return
    case 'garbage':
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end('data: {not json\n\n<html>garbage</html>')
      return
    case 'status': {
      const { status } = misfortune
      const retry = status === 429 ? { 'retry-after': '1' } : {}
      response.writeHead(status, { 'content-type': 'application/json', ...retry })
      response.end(JSON.stringify(api.errorBody(status, `mock failure ${status}`)))
    }
  }
}

/** Four characters per token. */
function tokensOf({ system, messages }: Conversation, { chunks }: Answer): Tokens {
  const asked = messages.reduce((sum, { text }) => sum + text.length, system.length)
  return { input: Math.ceil((asked + 1) / 4), output: Math.ceil((chunks.join('').length + 1) / 4) }
}

type Streaming = ModelCall & { readonly api: Api; readonly chunkDelayMs: number }

async function streamAnswer(answer: Answer, writer: AnswerWriter, streaming: Streaming): Promise<void> {
  const { response, chunkDelayMs } = streaming
  const send = frameSender(streaming)
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.flushHeaders()
  send(writer.open())
  if (answer.thought !== undefined) send(writer.thought(answer.thought))
  for (const chunk of answer.chunks) {
    if (response.destroyed) return
    send(writer.text(chunk))
    await delay(answer.chunkDelayMs ?? chunkDelayMs)
  }
  if (answer.breakOff === 'hang') return
  if (answer.breakOff === 'drop') return void response.destroy()
  for (const call of answer.calls) send(writer.call(call))
  send(writer.close())
  response.end(streaming.isEventStream ? '' : ']')
}

function frameSender({ response, isEventStream, api }: Streaming): (frames: readonly Frame[]) => void {
  let separator = '['
  return (frames) => {
    for (const { event, data } of frames) {
      const text = typeof data === 'string' ? data : JSON.stringify(data)
      if (isEventStream) {
        // OpenAI chat has no event names.
        const name = event !== undefined && api.name !== 'openai-chat' ? `event: ${event}\n` : ''
        response.write(`${name}data: ${text}\n\n`)
      } else {
        response.write(separator + text)
        separator = ','
      }
    }
  }
}
