import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { catalogPath } from '@agentproto/adapters'
import { type Principal, STREAM_EVENT_TYPES, type StreamEvent } from '@agentproto/contracts'
import { demoAgentPath } from '@agentproto/demo-agent'
import { type AgentCliHandle, defineAgentCli, loadAgentCli, type Session } from '@agentproto/driver-agent-cli'
import { expect, onTestFinished, test } from 'vitest'
import { document } from '../../driver-agent-cli/test/small-agent.ts'
import { servedGateway } from './fixtures/served-gateway.js'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

// AIP-45 as far as a driver or a gateway shows it, row by row: the names that the package exposes, the taxonomy of
// events, and what of modes, options and continuation reaches a session. The manifest's own rules are in the package
// `manifest`.

const owner: Principal = { type: 'owner', name: 'owner' }

async function demo(): Promise<{ readonly handle: AgentCliHandle; readonly home: string }> {
  const home = await temporaryHome()
  const handle = await loadAgentCli(join(catalogPath, 'demo', 'AGENT-CLI.md'), {
    home,
    env: { ...process.env, AGENTPROTO_DEMO_HOME: home },
    executables: { 'agentproto-demo-agent': demoAgentPath },
  })
  onTestFinished(() => handle.close())
  return { handle, home }
}

async function started(): Promise<{ readonly session: Session; readonly home: string }> {
  const { handle, home } = await demo()
  const session = await handle.start({ cwd: home })
  onTestFinished(async () => void (await session.close()))
  return { session, home }
}

async function eventsOf(prompt: string): Promise<readonly StreamEvent[]> {
  const { session } = await started()
  const events: StreamEvent[] = []
  for await (const event of session.send(prompt)) events.push(event)
  // The taxonomy is closed: whatever the agent says, nothing else comes out.
  expect(events.map(({ type }) => type).filter((type) => !STREAM_EVENT_TYPES.includes(type))).toEqual([])
  return events
}

const ofType = (events: readonly StreamEvent[], type: StreamEvent['type']): readonly StreamEvent[] =>
  events.filter((event) => event.type === type)

test('AIP-45 defineAgentCli: checks the manifest and returns a handle', async () => {
  const { handle } = await demo()
  expect(defineAgentCli(handle.manifest)).toMatchObject({ manifest: { id: 'demo' }, start: expect.any(Function) })
  const unknown = { ...document, protocol: 'carrier-pigeon' as 'acp' }
  expect(() => defineAgentCli(unknown)).toThrow(/protocol.*acp/s)
})

test('AIP-45 start: opens a session of the agent', async () => {
  const { session } = await started()
  expect(session).toMatchObject({
    send: expect.any(Function),
    cancel: expect.any(Function),
    close: expect.any(Function),
  })
})

test('AIP-45 session.send: one turn as events, the next in the same conversation', async () => {
  const { session } = await started()
  const texts: string[] = []
  for (const message of ['the word is heron', 'recall']) {
    let text = ''
    for await (const event of session.send(message)) if (event.type === 'text-delta') text += event.text
    texts.push(text)
  }
  expect(texts).toEqual(['echo: the word is heron', expect.stringContaining('the word is heron')])
})

test('AIP-45 session.cancel: ends the turn that runs, and leaves the session', async () => {
  const { session } = await started()
  const turn = session.send('think; hang')
  expect((await turn.next()).value).toMatchObject({ type: 'thought' })
  await session.cancel()
  const rest: StreamEvent[] = []
  for await (const event of turn) rest.push(event)
  expect(rest.at(-1)).toMatchObject({ type: 'turn-end', reason: 'cancelled' })
  for await (const event of session.send('hello')) expect(event.type).toMatch(/text-delta|turn-end/)
})

test('AIP-45 session.close: tears the agent down', async () => {
  const { session } = await started()
  expect(await session.close()).toMatchObject({ exitCode: 0 })
  await expect(session.send('hello').next()).rejects.toMatchObject({ code: 'session_ended' })
})

test('AIP-45 event text-delta: a piece of the agent’s text', async () => {
  expect(ofType(await eventsOf('stream 3'), 'text-delta')).toHaveLength(3)
})

test('AIP-45 event tool-call: the tool, its id and what it is called with', async () => {
  const [call] = ofType(await eventsOf('run true'), 'tool-call')
  expect(call).toMatchObject({ toolCallId: expect.any(String), input: expect.anything() })
})

test('AIP-45 event tool-result: bears the id of its call', async () => {
  const events = await eventsOf('run echo hello')
  const [[call], [result]] = [ofType(events, 'tool-call'), ofType(events, 'tool-result')]
  expect(result).toMatchObject({ toolCallId: (call as { toolCallId: string }).toolCallId, status: 'completed' })
})

test('AIP-45 event thought: what the agent thinks, apart from what it says', async () => {
  const events = await eventsOf('think of herons')
  const [thought, text] = (['thought', 'text-delta'] as const).map((type) => JSON.stringify(ofType(events, type)))
  expect(thought).toContain('I am done.')
  expect(text).not.toContain('I am done.')
})

test('AIP-45 event agent-prompt: what the agent asks in its turn', async () => {
  expect(ofType(await eventsOf('ask'), 'agent-prompt')).toMatchObject([
    { requestId: expect.any(String), request: { kind: 'permission', options: expect.any(Array) } },
  ])
})

test('AIP-45 event turn-end: the last of each turn, once, with its reason', async () => {
  for (const [prompt, reason] of [
    ['hello', 'end_turn'],
    ['stop max_tokens', 'max_tokens'],
    ['stop because', 'error'],
    ['fail', 'error'],
  ] as const) {
    const events = await eventsOf(prompt)
    expect([prompt, ofType(events, 'turn-end')]).toMatchObject([prompt, [{ reason }]])
    expect(events.at(-1)?.type).toBe('turn-end')
  }
})

test('AIP-45 event error: what went wrong, before the end of the turn', async () => {
  const events = await eventsOf('fail no luck')
  expect(events.map(({ type }) => type)).toEqual(['error', 'turn-end'])
  expect(events[0]).toMatchObject({ message: expect.stringContaining('no luck') })
})

test('AIP-45 mode: one of the manifest’s is applied before the first turn', async () => {
  const { spawn, home, turnEnded, session } = await servedGateway()
  const { id } = await spawn({ mode: 'plan', prompt: 'write note.txt hello' })
  await turnEnded(id)
  expect((await session(id)).config).toMatchObject({ modeId: 'plan' })
  expect(existsSync(join(home, 'note.txt'))).toBe(false)
})

test('AIP-45 unknown mode: is refused before anything is started, with those that there are', async () => {
  const { call } = await servedGateway()
  const refused = await call('POST /sessions/agent', { adapter: 'demo', mode: 'warp' })
  expect(refused).toMatchObject({
    status: 422,
    body: { code: 'mode_unknown', expected: expect.stringContaining('plan') },
  })
  expect((await call('GET /sessions?onlyAlive=true')).body).toEqual({ sessions: [] })
})

test('AIP-45 option: an unknown id, and a value that is not allowed, are refused before anything is started', async () => {
  const { call } = await servedGateway()
  for (const options of [{ warp: 9 }, { model: 'no-such-model' }]) {
    const refused = await call('POST /sessions/agent', { adapter: 'demo', options })
    expect([options, refused.body['code']]).toEqual([options, 'option_invalid'])
  }
  expect((await call('GET /sessions?onlyAlive=true')).body).toEqual({ sessions: [] })
})

test('AIP-45 continuation pinned-session: is what a session of a gateway is', async () => {
  const home = await temporaryHome()
  const { sessions } = await testGateway({ home })
  const { id } = await sessions.spawn({ adapter: 'demo', cwd: home, continuation: 'pinned-session' }, owner)
  for (const [prompt, text] of [
    ['the word is heron', 'heron'],
    ['recall', 'heron'],
  ] as const) {
    const { turn } = await sessions.prompt(id, { prompt }, owner)
    expect((await sessions.waitTurn(id, turn)).text).toContain(text)
  }
})
