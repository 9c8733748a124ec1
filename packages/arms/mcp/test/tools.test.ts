import { expect, test } from 'vitest'
import { parseProfile } from '../src/profile.ts'
import { findPromptTools } from '../src/tools.ts'

const text = { type: 'string' }
const tool = (name: string, properties: object, required: readonly string[]) => ({
  name,
  inputSchema: { type: 'object', properties, required },
})
const profile = (data: object = {}) => parseProfile({ transport: 'stdio', data })

test.each(['prompt', 'message', 'input', 'query'])(
  'the one tool whose one required text is its %s takes the prompt',
  (name) => {
    const tools = [tool('status', {}, []), tool('run', { [name]: text, verbose: { type: 'boolean' } }, [name])]
    expect(findPromptTools(tools, profile())).toEqual({ prompt: { name: 'run', argument: name, extra: {} } })
  },
)

test('Codex’s two tools differ by the thread that one of them takes', () => {
  const start = tool('codex', { prompt: text, cwd: text }, ['prompt'])
  const reply = tool('codex-reply', { prompt: text, threadId: text, conversationId: text }, ['prompt'])
  expect(findPromptTools([start, reply], profile())).toEqual({
    prompt: { name: 'codex', argument: 'prompt', extra: {} },
    reply: { name: 'codex-reply', argument: 'prompt', extra: {}, session: 'threadId' },
  })
})

test('one tool for all turns takes the session with the prompt', () => {
  const chat = tool('chat', { message: text, session_id: { type: ['string', 'null'] } }, ['message'])
  const found = findPromptTools([chat], profile())
  expect(found.reply).toEqual(found.prompt)
  expect(found.prompt).toMatchObject({ name: 'chat', session: 'session_id' })
})

test('the manifest has the last word, and its arguments go along', () => {
  const tools = [tool('a', { prompt: text }, ['prompt']), tool('b', { task: text }, ['task'])]
  const data = { prompt: { tool: 'b', argument: 'task', arguments: { cwd: '{cwd}' } } }
  expect(findPromptTools(tools, profile(data)).prompt).toEqual({ name: 'b', argument: 'task', extra: { cwd: '{cwd}' } })
})

test.each([
  ['none', [tool('add', { a: { type: 'number' } }, ['a'])], /No tool of the agent takes a prompt.*Given: add/],
  ['no tools at all', [], /Given: none/],
  [
    'several',
    [tool('a', { prompt: text }, ['prompt']), tool('b', { query: text }, ['query'])],
    /Several tools.*Given: a, b/,
  ],
  ['garbage', [null, 7, { name: 3 }, { name: 'x', inputSchema: 'y' }], /No tool of the agent takes a prompt/],
])('%s that could be meant is a failed handshake that says what there is', (_, tools, message) => {
  expect(() => findPromptTools(tools, profile())).toThrow(message)
})

test('a tool that the manifest names and the agent has not is named', () => {
  const named = (data: object) => () => findPromptTools([tool('a', { task: text }, ['task'])], profile(data))
  expect(named({ prompt: { tool: 'b' } })).toThrow(/The agent has no tool b.*Given: a/)
  expect(named({ prompt: { tool: 'a' } })).toThrow(/does not say which argument takes the prompt/)
})
