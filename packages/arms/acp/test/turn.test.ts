import type { AgentSignal } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { open, recorder } from './connecting.ts'

const said = (text: string): AgentSignal => ({ type: 'text-delta', text })
const ended = (reason: string, more: object = {}): object => ({ type: 'turn-end', reason, ...more })
const EMPTY = { empty: true }
const types = (signals: readonly AgentSignal[]): string[] => signals.map(({ type }) => type)

test('a prompt goes in whole; its answer, its usage and its end come out', async () => {
  const { session, sink } = await open('echo full')
  const prompt = [
    { type: 'text', text: 'a' },
    { type: 'image', data: 'AA==', mimeType: 'image/png' },
    { type: 'audio', data: 'AA==', mimeType: 'audio/wav' },
    { type: 'resource', resource: { uri: 'file:///x', text: 'inside' } },
    { type: 'resource', resource: { uri: 'file:///z', blob: 'AA==', mimeType: 'a/b' } },
    { type: 'resource_link', uri: 'file:///y', name: 'y' },
  ] as const
  await session.send(prompt)
  expect(sink.signals[0]).toMatchObject({ type: 'text-delta', messageId: 'm1' })
  expect(JSON.parse(sink.text())).toEqual(prompt)
  expect(sink.signals[1]).toEqual(ended('end_turn', { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } }))
})

test('embedded text is given as text to an agent that takes no embedded context', async () => {
  const { session, sink } = await open('echo bare')
  await session.send([
    { type: 'resource', resource: { uri: 'file:///x', text: 'inside' } },
    { type: 'resource', resource: { uri: 'file:///z', blob: 'AA==', mimeType: 'a/b' } },
  ])
  expect(JSON.parse(sink.text())).toEqual([
    { type: 'text', text: '<resource uri="file:///x">\ninside\n</resource>' },
    { type: 'resource_link', uri: 'file:///z', name: 'file:///z', mimeType: 'a/b' },
  ])
})

const KINDS = ['image', 'audio', 'embeddedContext']

test.each([
  ['image', { type: 'image', data: 'AA==', mimeType: 'image/png' }],
  ['audio', { type: 'audio', data: 'AA==', mimeType: 'audio/wav' }],
] as const)(
  '%s goes to an agent that takes it and no more; one that takes all else never sees it',
  async (kind, block) => {
    const prompt = [{ type: 'text', text: 'see' }, block] as const
    const able = await open(`echo only ${kind}`)
    await able.session.send(prompt)
    expect(JSON.parse(able.sink.text())).toEqual(prompt)

    const { session, sink } = await open(`echo only ${KINDS.filter((each) => each !== kind).join(' ')}`)
    await session.send(prompt)
    expect(sink.signals).toEqual([
      { type: 'error', message: `The agent takes no ${kind} in a prompt` },
      ended('error', EMPTY),
    ])
    await session.send([{ type: 'text', text: 'without' }])
    expect(sink.text()).toBe('[{"type":"text","text":"without"}]')
  },
)

test('embedded context goes to an agent that takes nothing else', async () => {
  const { session, sink } = await open('echo only embeddedContext')
  const prompt = [{ type: 'resource', resource: { uri: 'file:///x', text: 'inside' } }] as const
  await session.send(prompt)
  expect(JSON.parse(sink.text())).toEqual(prompt)
})

test.each([
  ['end_turn', 'end_turn'],
  ['max_tokens', 'max_tokens'],
  ['max_turn_requests', 'max_turn_requests'],
  ['refusal', 'refusal'],
  ['cancelled', 'cancelled'],
])('F7 the stop reason %s is reported as %s', async (stop, reason) => {
  expect(await (await open('turns')).say(`stop ${stop}`)).toEqual([said('x'), ended(reason)])
})

test.each(['whatever', 'timeout', 'error', ''])(
  'F7 the unknown stop reason "%s" is an error, never a success',
  async (stop) => {
    expect(await (await open('turns')).say(`stop ${stop}`)).toEqual([
      said('x'),
      { type: 'error', message: expect.stringContaining(JSON.stringify(stop)) },
      ended('error'),
    ])
  },
)

test('F6 an error of the agent is emitted with its code, and the turn ends', async () => {
  expect(await (await open('turns')).say('error')).toEqual([
    { type: 'error', message: 'model overloaded', agentCode: -32603, data: { retry: false } },
    ended('error', EMPTY),
  ])
})

test('F8 a turn that produced nothing says so; a thought is something', async () => {
  const { say } = await open('turns')
  expect(await say('empty')).toEqual([ended('end_turn', EMPTY)])
  expect(await say('blank')).toEqual([ended('end_turn', EMPTY)])
  expect(await say('thought')).toEqual([{ type: 'thought', text: 'hm' }, ended('end_turn')])
})

test('F9 an agent that dies in the middle of a line ends its turn with what it said on stderr', async () => {
  const { say, connection } = await open('turns')
  const signals = await say('crash')
  expect(signals.filter(({ type }) => type !== 'output')).toEqual([
    said('before'),
    {
      type: 'error',
      message: 'The agent ended with exit code 9; its last words: panic: out of luck',
      stderrTail: 'panic: out of luck\n',
    },
    ended('error'),
  ])
  expect(signals).toContainEqual({ type: 'output', stream: 'stderr', text: 'panic: out of luck' })
  expect(signals).toContainEqual({ type: 'output', stream: 'stdout', text: '{"jsonrpc":"2.0","method":"session/upd' })
  expect(await connection.ended).toEqual({
    cause: 'exit',
    duringTurn: true,
    exitCode: 9,
    message: 'The agent ended with exit code 9; its last words: panic: out of luck',
    stderrTail: 'panic: out of luck\n',
  })
})

test('F31 an agent that closes its pipes and lives on is ended, as broken transport', async () => {
  const { say, connection } = await open('turns')
  expect((await say('deaf')).at(-1)).toEqual(ended('error', EMPTY))
  expect(await connection.ended).toMatchObject({ cause: 'transport', duringTurn: true })
})

test('F17 a prompt to an agent that has ended is a turn that failed, with the reason', async () => {
  const { say, connection } = await open('turns')
  await say('crash')
  await connection.ended
  expect(await say('empty')).toEqual([
    { type: 'error', message: expect.stringContaining('exit code 9') },
    ended('error', EMPTY),
  ])
})

test('lines outside of the protocol are emitted as output', async () => {
  const { say } = await open('turns')
  const signals = await say('garbage')
  expect(signals.filter(({ type }) => type === 'text-delta')).toEqual([said('a'), said('b')])
  expect(signals.flatMap((signal) => (signal.type === 'output' ? [signal.text] : []))).toEqual([
    'Warning: colours!',
    '{"broken": ',
    '[1,2]',
    'null',
  ])
  expect(signals.filter((signal) => signal.type === 'extension')).toHaveLength(2)
  expect(signals.at(-1)).toEqual(ended('end_turn'))
})

test('a flood arrives whole and in order, in batches', async () => {
  const { say, sink } = await open('turns')
  await say('flood 50000')
  expect(sink.text()).toBe(Array.from({ length: 50_000 }, (_, i) => `${i} `).join(''))
  expect(sink.batches.length).toBeLessThan(5_000)
})

test('F34 a slow host holds the agent up, and one read waits for one batch', async () => {
  const sink = recorder()
  let taking = 0
  const { emit } = sink
  sink.emit = async (batch) => {
    expect(++taking).toBeLessThanOrEqual(2)
    await emit(batch)
    await new Promise((resolve) => setTimeout(resolve, 1))
    taking--
  }
  const { say } = await open('turns', { sink })
  await say('flood 20000')
  expect(sink.ofType('text-delta')).toHaveLength(20_000)
  expect(sink.signals.at(-1)).toEqual(ended('end_turn'))
})

test('a megabyte in one line passes', async () => {
  const { say, sink } = await open('turns')
  await say('big 2000000')
  expect(sink.text()).toHaveLength(2_000_000)
})

test.each(['1', '2'])('an update after the answer, in %s write(s), is inside its turn', async (writes) => {
  expect(await (await open('turns')).say(`late ${writes}`)).toEqual([said('late'), ended('end_turn')])
})

test('F5 F68 no event comes after the turn’s end: what the agent goes on to say is kept as an extension', async () => {
  const { say, sink } = await open('turns')
  expect(await say('after')).toEqual([said('x'), ended('end_turn')])
  await expect.poll(() => sink.signals.length).toBe(4)
  expect(sink.signals.slice(2)).toEqual([
    {
      type: 'extension',
      kind: 'agent_message_chunk',
      payload: expect.objectContaining({ content: { type: 'text', text: 'too late' } }),
    },
    { type: 'usage', used: 5, size: 10 },
  ])
})

test('a second answer to the same prompt changes nothing', async () => {
  const { say, sink } = await open('turns')
  expect(types(await say('twice')).filter((type) => type === 'turn-end')).toHaveLength(1)
  expect(await say('empty')).toContainEqual(ended('end_turn', EMPTY))
  expect(sink.signals).toContainEqual(expect.objectContaining({ type: 'extension', kind: 'unmatched-response' }))
})

test('F16 a second prompt is refused while a turn runs', async () => {
  const { session, say } = await open('turns')
  const running = say('obedient')
  await expect(session.send([{ type: 'text', text: 'x' }])).rejects.toMatchObject({ code: 'turn_in_progress' })
  await session.cancel()
  expect(await running).toEqual([said('working'), ended('cancelled')])
})

test.each(['cancel-end-turn', 'cancel-error'])(
  'a turn that we cancelled is cancelled, whatever the agent calls it (%s)',
  async (word) => {
    const { session, say } = await open('turns')
    const running = say(word)
    await session.cancel()
    await session.cancel()
    expect(await running).toEqual([ended('cancelled', EMPTY)])
    expect(await say('empty')).toEqual([ended('end_turn', EMPTY)])
  },
)

test('cancelling when nothing runs does nothing', async () => {
  const { session, say } = await open('turns')
  await session.cancel()
  expect(await say('stop end_turn')).toEqual([said('x'), ended('end_turn')])
})

test('F2 a turn that the agent never ends is ended when the session is closed', async () => {
  const { session, say } = await open('turns')
  const running = say('hang')
  await session.close()
  expect(await running).toEqual([ended('cancelled', EMPTY)])
  await expect(session.send([])).rejects.toMatchObject({ code: 'session_ended' })
})

test('unknown updates are kept', async () => {
  expect(await (await open('turns')).say('unknown')).toEqual([
    { type: 'extension', kind: 'sparkle', payload: { sessionUpdate: 'sparkle', colour: 'red' } },
    { type: 'extension', kind: '_vendor/thing', payload: { a: 1 } },
    ended('end_turn', EMPTY),
  ])
})

test('an unknown request is refused, never left open', async () => {
  const { say, sink } = await open('turns')
  await say('asks')
  expect(JSON.parse(sink.text())).toEqual([-32601, -32601])
})

test('an image in the answer is named in the text, and kept', async () => {
  expect(await (await open('turns')).say('image')).toEqual([
    expect.objectContaining({ type: 'extension', kind: 'agent_message_chunk' }),
    said('[image image/png]'),
    ended('end_turn'),
  ])
})

test('an update of a session that is not open is kept as an extension', async () => {
  expect(await (await open('turns')).say('stray-session')).toEqual([
    expect.objectContaining({ type: 'extension', kind: 'session/update' }),
    said('x'),
    ended('end_turn'),
  ])
})

test('a host that fails to take a batch does not cost the turn its end', async () => {
  const sink = recorder()
  const { emit } = sink
  let fails = true
  sink.emit = (batch) => {
    void emit(batch)
    if ((fails = !fails)) throw new Error('no')
    return Promise.reject(new Error('no'))
  }
  const { say } = await open('turns', { sink })
  expect((await say('stop end_turn')).at(-1)).toEqual(ended('end_turn'))
})

test('several sessions in one process do not hear each other, and all hear its end', async () => {
  const first = await open('several')
  const sink = recorder()
  const second = await first.connection.openSession(
    { cwd: '/', additionalDirectories: [], mcpServers: [], origin: { how: 'new' } },
    sink,
  )
  const waiting = second.send([{ type: 'text', text: 'wait' }])
  expect(await first.say('hi')).toEqual([said('s1 says hi'), ended('end_turn')])
  await second.cancel()
  await waiting
  expect(sink.signals).toEqual([ended('cancelled', EMPTY)])
  const again = second.send([{ type: 'text', text: 'wait' }])
  expect((await first.say('crash')).at(-1)).toEqual(ended('error', EMPTY))
  await again
  expect(sink.signals.at(-1)).toEqual(ended('error', EMPTY))
})

test('closing one session leaves its siblings alone', async () => {
  const first = await open('several')
  const second = await first.connection.openSession(
    { cwd: '/', additionalDirectories: [], mcpServers: [], origin: { how: 'new' } },
    recorder(),
  )
  await second.close()
  expect(await first.say('hi')).toEqual([said('s1 says hi'), ended('end_turn')])
})

test('a message that cannot be taken is dropped, and ends neither the turn nor the host', async () => {
  const { sink, say } = await open('turns')
  const signals = await say('untakable')
  expect(sink.text()).toBe('still here')
  expect(sink.asked).toEqual([])
  expect(sink.ofType('notice').map(({ text }) => text)).toEqual([
    'A message of the agent was dropped: Maximum call stack size exceeded',
    'A message of the agent was dropped: Cannot convert object to primitive value',
    'A message of the agent was dropped: its id is neither a text nor a number',
  ])
  expect(signals.at(-1)).toEqual(ended('error'))
})
