import { fileURLToPath, pathToFileURL } from 'node:url'
import { connectMcp } from '@agentproto/arm-mcp'
import { launchOf, RecordingSink } from '@agentproto/arm-testing'
import { systemClock } from '@agentproto/contracts'
import { type AgentSignal, DEFAULT_ARM_LIMITS } from '@agentproto/contracts/agent'
import { expect, onTestFinished, test } from 'vitest'

// A server without a word in its manifest.

async function open(data?: object) {
  const launch = launchOf([fileURLToPath(new URL('fixtures/plain.mjs', import.meta.url))])
  const connection = await connectMcp({
    launch,
    limits: { ...DEFAULT_ARM_LIMITS, termGraceMs: 500, stdinGraceMs: 300 },
    clock: systemClock,
    signal: new AbortController().signal,
    client: { name: 'test', version: '0' },
    ...(data === undefined ? {} : { profile: { transport: 'stdio', data } }),
  })
  onTestFinished(async () => void (await connection.close()))
  const sink = new RecordingSink()
  const opening = {
    cwd: launch.cwd,
    additionalDirectories: ['/opt'],
    mcpServers: [MOUNT],
    origin: { how: 'new' as const },
  }
  const session = await connection.openSession(opening, sink)
  const say = async (text: string): Promise<readonly AgentSignal[]> => {
    const from = sink.signals.length
    await session.send([{ type: 'text', text }])
    return sink.signals.slice(from)
  }
  return { connection, session, sink, say, launch }
}

const MOUNT = { name: 'tools', command: 'x', args: [], env: [] }
const END = { type: 'turn-end', reason: 'end_turn' }

test('progress is emitted as thoughts, and progress of an unknown call is kept', async () => {
  const { say } = await open()
  expect(await say('progress')).toEqual([
    { type: 'thought', text: 'reading\n' },
    { type: 'thought', text: 'writing\n' },
    expect.objectContaining({ type: 'extension', kind: 'notifications/progress' }),
    { type: 'text-delta', text: 'done' },
    END,
  ])
})

test('log messages are notices with their severity', async () => {
  const { say } = await open()
  expect(await say('log')).toEqual([
    { type: 'notice', severity: 'error', text: 'core: disk full' },
    { type: 'notice', severity: 'info', text: 'fine' },
    { type: 'text-delta', text: 'logged' },
    END,
  ])
})

test('a message that cannot be taken is dropped, and ends neither the turn nor the host', async () => {
  const { say } = await open()
  const dropped = (why: string): object => ({
    type: 'notice',
    severity: 'error',
    text: `A message of the agent was dropped: ${why}`,
  })
  expect(await say('untakable')).toEqual([
    dropped('Maximum call stack size exceeded'),
    dropped('Cannot convert object to primitive value'),
    dropped('its id is neither a text nor a number'),
    { type: 'text-delta', text: 'still here' },
    END,
  ])
})

test('the manifest may take both for what they are', async () => {
  const { say } = await open({ progress: 'text-delta', logging: 'ignore' })
  expect(await say('log')).toEqual([{ type: 'text-delta', text: 'logged' }, END])
  const [first, second] = await say('progress')
  expect([first, second]).toEqual([
    { type: 'text-delta', text: 'reading\n' },
    { type: 'text-delta', text: 'writing\n' },
  ])
})

test('a form is asked of the user, and the answer goes back', async () => {
  const { say, sink } = await open()
  sink.onAsk = async () => ({ outcome: 'accept', content: { name: 'heron' } })
  await say('form')
  expect(sink.asked).toMatchObject([{ request: { kind: 'question', mode: 'form', message: 'Who?' } }])
  expect(sink.text).toBe('{"action":"accept","content":{"name":"heron"}}')
})

test('a question that the server takes back is no longer asked', async () => {
  const { say, sink } = await open()
  await say('withdraw')
  expect(sink.asked.map(({ signal }) => signal.aborted)).toEqual([true])
})

test('the server gets its roots, and its notifications are handled', async () => {
  const { say, sink, launch } = await open()
  await say('roots')
  const uris = [launch.cwd, '/opt'].map((path) => ({ uri: pathToFileURL(path).href, name: path }))
  expect(JSON.parse(sink.text)).toEqual({ roots: uris })
  await say('ping')
  expect(sink.text).toContain('"result":{}')
})

test('F87 what the agent cannot be given is a warning; what cannot be changed is refused', async () => {
  const { session } = await open()
  expect(session.warnings).toEqual([expect.stringContaining('"tools" is not mounted'), expect.stringContaining('/opt')])
  await expect(session.configure({ mode: 'plan' })).rejects.toMatchObject({ code: 'not_supported' })
})

test.each([
  { type: 'image', data: '', mimeType: 'image/png' },
  { type: 'audio', data: '', mimeType: 'audio/wav' },
] as const)('$type is refused before the agent hears of it', async (block) => {
  const { session, sink } = await open()
  await session.send([block])
  expect(sink.signals).toMatchObject([{ type: 'error' }, { type: 'turn-end', reason: 'error', empty: true }])
})

test('embedded context is text to a tool that takes a text', async () => {
  const { session, sink } = await open()
  await session.send([
    { type: 'text', text: 'see' },
    { type: 'resource', resource: { uri: 'file:///x', text: 'inside' } },
    { type: 'resource_link', uri: 'file:///y', name: 'y' },
  ])
  expect(sink.signals).toEqual([{ type: 'text-delta', text: 'see\ninside\n[y](file:///y)' }, END])
})

test('a list of tools that changes is no news; a conversation without an id is one all the same', async () => {
  const { say, session } = await open()
  expect(await say('list')).toEqual([{ type: 'text-delta', text: 'changed' }, END])
  expect(session.agentSessionId).toBe('')
  expect(await say('again')).toEqual([{ type: 'text-delta', text: 'again' }, END])
})
