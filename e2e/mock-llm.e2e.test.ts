import { expect, onTestFinished, test } from 'vitest'
import { startMockLlm, type MockLlm } from './mock-llm/start-mock-llm.js'

async function mockForTest(): Promise<MockLlm> {
  const mock = await startMockLlm({ chunkDelayMs: 0 })
  onTestFinished(() => mock.close())
  return mock
}

const post = (url: string, body: unknown): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

/** The data of every server-sent event. */
const frames = async (response: Response): Promise<string[]> =>
  [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data)

const TOOL = {
  name: 'write',
  schema: {
    type: 'object',
    properties: { filePath: { type: 'string' }, content: { type: 'string' } },
    required: ['filePath', 'content'],
  },
}
const CONVERSATION = [
  { role: 'user', content: 'my name is Ada' },
  { role: 'assistant', content: 'hello' },
  { role: 'user', content: '<system-reminder>be kind</system-reminder>RECALL' },
]

test('OpenAI chat: text and tool calls arrive in deltas', async () => {
  const mock = await mockForTest()
  const url = `${mock.url}/v1/chat/completions`
  const recalled = await frames(await post(url, { model: 'mock-1', stream: true, messages: CONVERSATION }))
  expect(recalled.at(-1)).toBe('[DONE]')
  const text = recalled.slice(0, -1).map((data) => JSON.parse(data).choices[0]?.delta.content ?? '')
  expect(text.join('')).toBe('RECALL:my name is Ada')

  const tools = [{ type: 'function', function: { name: TOOL.name, parameters: TOOL.schema } }]
  const messages = [{ role: 'user', content: 'WRITE a.txt' }]
  const input = JSON.stringify({ filePath: 'a.txt', content: 'mock wrote a.txt\n' })
  const called = await (await post(url, { model: 'mock-1', messages, tools })).json()
  expect(called).toMatchObject({
    choices: [{ message: { tool_calls: [{ function: { name: 'write', arguments: input } }] } }],
  })
})

test('OpenAI chat: after a tool result the model reports it', async () => {
  const mock = await mockForTest()
  const messages = [
    { role: 'user', content: 'RUN ls' },
    { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'bash', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'c1', content: 'a.txt' },
  ]
  const tools = [{ type: 'function', function: { name: 'bash', parameters: { type: 'object' } } }]
  const answer = await (await post(`${mock.url}/v1/chat/completions`, { model: 'mock-1', messages, tools })).json()
  expect(answer).toMatchObject({ choices: [{ message: { content: 'DONE bash: a.txt' } }] })
})

test('OpenAI Responses: items are added, filled and done', async () => {
  const mock = await mockForTest()
  const tools = [{ type: 'function', name: TOOL.name, parameters: TOOL.schema }]
  const body = { model: 'mock-1', stream: true, input: 'THINK WRITE a.txt', tools }
  const events = (await frames(await post(`${mock.url}/v1/responses`, body))).map((data) => JSON.parse(data))
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, i) => i))
  const { response } = events.at(-1)
  expect(response.output.map(({ type }: { type: string }) => type)).toEqual(['reasoning', 'message', 'function_call'])
})

test('Anthropic: blocks follow each other', async () => {
  const mock = await mockForTest()
  const tools = [{ name: TOOL.name, input_schema: TOOL.schema }]
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'WRITE a.txt' }] }]
  const events = await frames(await post(`${mock.url}/v1/messages`, { model: 'm', stream: true, messages, tools }))
  expect(events.map((data) => JSON.parse(data).type)).toEqual([
    'message_start',
    'ping',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'content_block_start',
    'content_block_delta',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ])
})

test('Gemini: streams as events and as one array', async () => {
  const mock = await mockForTest()
  const contents = [{ role: 'user', parts: [{ text: 'SAY 3' }] }]
  const url = `${mock.url}/v1beta/models/gemini-x:streamGenerateContent`
  const part = (text: string, more = {}) => ({ candidates: [{ content: { parts: [{ text }] }, ...more }] })
  const expected = [part('chunk-1 '), part('chunk-2 '), part('chunk-3 '), part('', { finishReason: 'STOP' })]
  const events = await frames(await post(`${url}?alt=sse`, { contents }))
  expect(events.map((data): unknown => JSON.parse(data))).toMatchObject(expected)
  expect(await (await post(url, { contents })).json()).toMatchObject(expected)
})

test('FAIL answers with the API’s own error', async () => {
  const mock = await mockForTest()
  const messages = [{ role: 'user', content: 'FAIL 429' }]
  const response = await post(`${mock.url}/v1/messages`, { messages })
  expect(response.status).toBe(429)
  expect(response.headers.get('retry-after')).toBe('1')
  expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' } })
})

test('a disconnected caller is recorded', async () => {
  const mock = await mockForTest()
  const abort = new AbortController()
  const body = JSON.stringify({ stream: true, messages: [{ role: 'user', content: 'SLOW 20' }] })
  const response = await fetch(`${mock.url}/v1/messages`, { method: 'POST', body, signal: abort.signal })
  expect(response.status).toBe(200)
  abort.abort()
  await expect.poll(() => mock.log[0]).toMatchObject({ api: 'anthropic', last: 'SLOW 20', aborted: true })
})
