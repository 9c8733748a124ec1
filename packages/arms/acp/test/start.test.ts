import { existsSync } from 'node:fs'
import { findMarkedProcesses } from '@agentproto/subprocess'
import { connectAcp } from '@agentproto/acp'
import { expect, onTestFinished, test } from 'vitest'
import { connect, fixture, open, recorder } from './connecting.ts'

const opening = { cwd: process.cwd(), additionalDirectories: [], mcpServers: [], origin: { how: 'new' } } as const

test('the handshake gives the name and the capabilities of the agent, and sends ours', async () => {
  const { connection, session, say, sink } = await open('echo full')
  expect(connection.info).toEqual({
    name: 'echo',
    version: '1',
    capabilities: {
      load: true,
      resume: true,
      list: true,
      close: true,
      fork: false,
      image: true,
      audio: true,
      embeddedContext: true,
      mcpHttp: true,
      mcpSse: false,
      additionalDirectories: true,
    },
  })
  expect(session.agentSessionId).toBe('s1')
  await say('seen')
  expect(JSON.parse(sink.text())).toMatchObject({
    initialize: {
      protocolVersion: 1,
      clientInfo: { name: 'test', version: '0' },
      clientCapabilities: {
        fs: { readTextFile: false, writeTextFile: false },
        terminal: false,
        elicitation: { form: {}, url: {} },
        session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
      },
    },
    open: { cwd: process.cwd(), mcpServers: [] },
  })
})

test('the environment of the agent is exactly what the launch says', async () => {
  const { say, sink } = await open('echo')
  await say('env')
  expect(Object.keys(JSON.parse(sink.text()) as object).sort()).toEqual(['AGENTPROTO_SESSION_ID', 'PATH'])
})

test.each([
  ['dies in the handshake', 'start dies', 'handshake_failed', /exit code 4; its last words: Error: no config found/],
  ['ends at once with success', 'start exit-zero', 'handshake_failed', /exit code 0/],
  ['speaks another version', 'start version', 'handshake_failed', /another version.*Given: 2/],
  ['says no version', 'start no-version', 'handshake_failed', /Given: none/],
  ['refuses the handshake', 'start refuses', 'handshake_failed', /not today/],
])('an agent that %s fails its start, and nothing of it is left', async (_, words, code, message) => {
  const options = fixture(words)
  await expect(connectAcp(options)).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
  expect(findMarkedProcesses(options.launch.marker)).toEqual([])
})

test('an agent that never answers the handshake is given up at its limit', async () => {
  const options = fixture('start mute', { handshakeMs: 300 })
  await expect(connectAcp(options)).rejects.toMatchObject({
    code: 'timeout',
    message: expect.stringContaining('initialize'),
  })
  expect(findMarkedProcesses(options.launch.marker)).toEqual([])
})

test('a start that is aborted leaves nothing behind', async () => {
  const abort = new AbortController()
  const options = { ...fixture('start mute'), signal: abort.signal }
  const connecting = connectAcp(options)
  setTimeout(() => abort.abort(), 100)
  await expect(connecting).rejects.toMatchObject({ code: 'cancelled' })
  expect(findMarkedProcesses(options.launch.marker)).toEqual([])
  await expect(connectAcp({ ...options, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' })
})

test.each([
  ['never answers', 'start new-mute', 'timeout', /session\/new/],
  ['refuses', 'start new-refused', 'handshake_failed', /disk full/],
  [
    'says why only in the data of its refusal',
    'start new-details',
    'handshake_failed',
    /^The agent refused session\/new: Internal error: It ended with 1\. \[31mstderr: not as rootx{400,500}\.$/,
  ],
  ['dies', 'start new-dies', 'handshake_failed', /SIGKILL/],
  ['gives an endless id', 'start long-id', 'handshake_failed', /id of the session .* is too long/],
  ['gives no id', 'start no-id', 'handshake_failed', /without an id/],
  ['wants a login', 'start auth', 'auth_required', /Run `fixture login`/],
  ['says in data which login', 'start auth-details', 'auth_required', /Authentication required: Set SAMPLE_KEY/],
])('opening a session with an agent that %s fails by its own name', async (_, words, code, message) => {
  const connection = await connect(words, { openMs: code === 'timeout' ? 300 : 10_000 })
  await expect(connection.openSession(opening, recorder())).rejects.toMatchObject({
    code,
    message: expect.stringMatching(message),
  })
})

test('F71 F87 MCP servers and folders that the agent cannot take are said, not sent; the others are in its shape', async () => {
  const mcpServers = [
    { name: 'local', command: '/bin/true', args: [], env: [] },
    { type: 'http', name: 'web', url: 'http://127.0.0.1:1', headers: [] },
    { type: 'sse', name: 'old', url: 'http://127.0.0.1:1', headers: [] },
  ] as const
  const bare = await open('echo bare', { mcpServers, additionalDirectories: ['/tmp'] })
  expect(bare.session.warnings).toEqual([
    expect.stringContaining('"web" is not mounted'),
    expect.stringContaining('"old" is not mounted'),
    expect.stringContaining('/tmp not passed'),
  ])
  await bare.say('seen')
  expect(JSON.parse(bare.sink.text())).toMatchObject({ open: { mcpServers: [{ name: 'local' }] } })
  const stdio = { name: 'web', command: '/bin/web', args: [], env: [{ name: 'TOKEN', value: 't' }] }
  const both = [{ ...mcpServers[1], otherwise: stdio }]
  const program = await open('echo bare', { mcpServers: both })
  expect(program.session.warnings).toEqual([])
  await program.say('seen')
  expect(JSON.parse(program.sink.text()).open.mcpServers).toEqual([stdio])
  const remote = await open('echo full', { mcpServers: both })
  await remote.say('seen')
  expect(JSON.parse(remote.sink.text()).open.mcpServers).toEqual([mcpServers[1]])
  const full = await open('echo full', { mcpServers, additionalDirectories: ['/tmp'] })
  await full.say('seen')
  expect(JSON.parse(full.sink.text())).toMatchObject({
    open: { mcpServers: [{ name: 'local' }, { name: 'web' }], additionalDirectories: ['/tmp'] },
  })
})

test('the sessions that the agent has stored are listed, page by page', async () => {
  const connection = await connect('echo full')
  expect(await connection.client.listSessions()).toEqual([
    { agentSessionId: 'a', cwd: '/x', title: 'A', updatedAt: 'now' },
    { agentSessionId: 'b' },
  ])
  await expect((await connect('echo bare')).client.listSessions()).rejects.toMatchObject({ code: 'not_supported' })
})

test('a login that needs a terminal is reported with its command line', async () => {
  const options = fixture('start auth-terminal')
  const connection = await connectAcp(options)
  onTestFinished(async () => void (await connection.close()))
  const login = `NO_UPDATE=1 ${options.launch.command} ${options.launch.args.join(' ')} login '--with browser'`
  await expect(connection.openSession(opening, recorder())).rejects.toMatchObject({
    code: 'auth_required',
    message: expect.stringContaining(`Log in (${login})`),
    parts: { data: { login } },
  })
  await expect(connection.client.authenticate('tty')).rejects.toMatchObject({ code: 'not_supported' })
})

test('login, deletion and fork of sessions work where the agent supports them', async () => {
  const { connection, say, sink } = await open('echo more')
  await connection.client.authenticate('key')
  await connection.client.deleteSession('old')
  const forked = await connection.client.forkSession('s1', opening, recorder())
  expect(forked.agentSessionId).toBe('s2')
  await say('seen')
  expect(JSON.parse(sink.text())).toMatchObject({
    authenticated: { methodId: 'key' },
    deleted: { sessionId: 'old' },
    open: { sessionId: 's1', cwd: process.cwd(), mcpServers: [] },
  })
  const bare = await connect('echo bare')
  await expect(bare.client.deleteSession('old')).rejects.toMatchObject({ code: 'not_supported' })
  await expect(bare.client.forkSession('s1', opening, recorder())).rejects.toMatchObject({ code: 'not_supported' })
  await expect(bare.client.authenticate('nothing')).rejects.toMatchObject({ code: 'not_supported' })
})

test('F55 a session is resumed by its id, or refused as what it is', async () => {
  const origin = { how: 'resume', agentSessionId: 'old' } as const
  const { session, say, sink } = await open('echo full', { origin })
  expect(session.agentSessionId).toBe('old')
  await say('seen')
  expect(JSON.parse(sink.text())).toMatchObject({ open: { sessionId: 'old', cwd: process.cwd() } })
  await expect(open('echo bare', { origin })).rejects.toMatchObject({ code: 'not_resumable' })
})

test('F58 a session that the agent has lost is reported, not papered over', async () => {
  const connection = await connect('start load')
  const origin = { how: 'load', agentSessionId: 'gone' } as const
  await expect(connection.openSession({ ...opening, origin }, recorder())).rejects.toMatchObject({
    code: 'not_resumable',
    message: expect.stringContaining('Resource not found'),
  })
})

test('history is not emitted again, even when it comes after the answer to the load', async () => {
  const { sink, say } = await open('history', { origin: { how: 'load', agentSessionId: 'h' } })
  expect(sink.signals.map(({ type }) => type)).toEqual(['title', 'config'])
  expect(await say('next')).toEqual([
    { type: 'text-delta', text: 'new answer' },
    { type: 'turn-end', reason: 'end_turn' },
  ])
})

test('closing ends the process, once', async () => {
  const { connection } = await open('echo')
  const { pid } = connection.process
  expect(existsSync(`/proc/${pid}`)).toBe(true)
  expect(connection.close()).toBe(connection.close())
  expect(await connection.close()).toEqual({ exitCode: 0 })
  expect(existsSync(`/proc/${pid}`)).toBe(false)
})

test('an endless name of an agent is cut', async () => {
  const connection = await connect('start long-name')
  expect(connection.info.name).toHaveLength(256)
  expect(connection.info.version).toHaveLength(256)
})
