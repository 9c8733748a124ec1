import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { cli, folder, serve, start, type Ended } from './cli-process.js'
import { ownAgent } from './own-agent.js'

// `agentproto acp` as an editor runs it: a process that writes JSON lines only.

interface Editor {
  /** Everything that came on stdout, each line parsed. */
  readonly messages: Message[]
  readonly ended: Promise<Ended>
  request(method: string, params: object): Promise<Message>
  respond(id: unknown, result: object): void
  /** Resolves with the first message that fits, whether it came already or is still to come. */
  first(fits: (message: Message) => boolean): Promise<Message>
  /** The end of stdin, as when the editor is closed. */
  leave(): void
}

interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly params?: { readonly update?: { readonly sessionUpdate: string; readonly content?: { text?: string } } }
  readonly result?: { readonly sessionId: string; readonly stopReason?: string; readonly sessions?: unknown[] }
  readonly error?: { readonly code: number; readonly message: string }
}

function editor(home: string, ...args: string[]): Editor {
  const { child, ended } = start(['acp', ...args], { home })
  const messages: Message[] = []
  const watchers = new Set<() => void>()
  if (child.stdout === null) throw new Error('no stdout')
  createInterface(child.stdout).on('line', (line) => {
    messages.push(JSON.parse(line) as Message)
    for (const look of watchers) look()
  })
  const say = (message: object): void => void child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const first = (fits: (message: Message) => boolean): Promise<Message> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = messages.find(fits)
        if (found === undefined) return
        watchers.delete(look)
        resolve(found)
      }
      watchers.add(look)
      look()
    })
  let ids = 0
  return {
    messages,
    ended,
    first,
    request(method, params) {
      const id = `c${++ids}`
      say({ id, method, params })
      return first((message) => message.id === id)
    },
    respond: (id, result) => say({ id, result }),
    leave: () => void child.stdin?.end(),
  }
}

const updateOf =
  (kind: string) =>
  ({ params }: Message): boolean =>
    params?.update?.sessionUpdate === kind

const INITIALIZE = { protocolVersion: 1, clientCapabilities: {} }
const text = (words: string): object[] => [{ type: 'text', text: words }]

test('an editor opens a session, prompts and answers a permission; the session keeps running when it disconnects', async () => {
  const home = folder()
  await serve(home)
  const one = editor(home, '--adapter', 'demo', '--label', 'mine')
  expect(await one.request('initialize', INITIALIZE)).toMatchObject({ result: { protocolVersion: 1 } })
  const opened = await one.request('session/new', { cwd: home, mcpServers: [] })
  const sessionId = opened.result?.sessionId
  const asking = one.request('session/prompt', { sessionId, prompt: text('ask a.txt hello') })
  const permission = await one.first(({ method }) => method === 'session/request_permission')
  one.respond(permission.id, { outcome: { outcome: 'selected', optionId: 'allow' } })
  expect(await asking).toMatchObject({ result: { stopReason: 'end_turn' } })
  expect(readFileSync(join(home, 'a.txt'), 'utf8').trim()).toBe('hello')
  void one.request('session/prompt', { sessionId, prompt: text('stream 1; hang') })
  await one.first(({ params }) => params?.update?.content?.text?.startsWith('chunk') === true)
  one.leave()
  const { code, stderr } = await one.ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { stdout } = await cli(['sessions', 'show', 'mine', '--json'], { home })
  expect(JSON.parse(stdout)).toMatchObject({ id: sessionId, status: 'running', turn: { number: 2, state: 'busy' } })
})

test('a second editor lists the session, gets its history, and follows the turn of the first editor', async () => {
  const home = folder()
  await serve(home)
  const one = editor(home, '--adapter', 'demo')
  await one.request('initialize', INITIALIZE)
  const sessionId = (await one.request('session/new', { cwd: home, mcpServers: [] })).result?.sessionId
  await one.request('session/prompt', { sessionId, prompt: text('first') })
  const two = editor(home)
  await two.request('initialize', INITIALIZE)
  expect((await two.request('session/list', { cwd: home })).result?.sessions).toMatchObject([{ sessionId }])
  await two.request('session/load', { sessionId, cwd: home, mcpServers: [] })
  const texts = two.messages.flatMap(({ params }) => params?.update?.content?.text ?? [])
  expect(texts).toEqual(['first', 'echo: first'])
  await one.request('session/prompt', { sessionId, prompt: text('second') })
  await two.first(({ params }) => params?.update?.content?.text === 'echo: second')
  expect(two.messages.filter(updateOf('user_message_chunk'))).toHaveLength(2)
  expect(one.messages.filter(updateOf('user_message_chunk'))).toHaveLength(0)
})

test('--session gives the client an existing session', async () => {
  const home = folder()
  await serve(home)
  const id = (await cli(['sessions', 'start', 'demo', '--label', 'try', '--cwd', home], { home })).stdout.trim()
  await cli(['sessions', 'prompt', 'try', 'remember blue', '--wait'], { home })
  const one = editor(home, '--session', 'try')
  await one.request('initialize', INITIALIZE)
  const opened = await one.request('session/new', { cwd: '/', mcpServers: [] })
  expect(opened.result?.sessionId).toBe(id)
  await one.first(({ params }) => params?.update?.content?.text === 'echo: remember blue')
  expect(await one.request('session/prompt', { sessionId: id, prompt: text('recall') })).toMatchObject({
    result: { stopReason: 'end_turn' },
  })
})

test('modes can be set, and the agent gets the MCP servers of the editor', async () => {
  const home = folder()
  await serve(home)
  const one = editor(home, '--adapter', 'demo', '--label', 'mine')
  await one.request('initialize', INITIALIZE)
  const mcpServers = [{ name: 'files', command: process.execPath, args: ['-v'], env: [] }]
  const { result } = await one.request('session/new', { cwd: home, mcpServers })
  const sessionId = result?.sessionId
  expect((await one.request('session/set_mode', { sessionId, modeId: 'plan' })).error).toBeUndefined()
  await one.first(updateOf('current_mode_update'))
  expect((await one.request('session/set_mode', { sessionId, modeId: 'nope' })).error).toMatchObject({ code: -32602 })
  await one.request('session/prompt', { sessionId, prompt: text('write a.txt hello') })
  expect(existsSync(join(home, 'a.txt'))).toBe(false)
  const { stdout } = await cli(['sessions', 'show', 'mine', '--json'], { home })
  expect(JSON.parse(stdout)).toMatchObject({ config: { modeId: 'plan' }, warnings: [] })
  expect(readFileSync(join(home, 'sessions', String(sessionId), 'meta.json'), 'utf8')).toContain('"files"')
})

test('_meta.agentproto configures one session; an error names the invalid field', async () => {
  const home = folder()
  await serve(home)
  const one = editor(home)
  await one.request('initialize', INITIALIZE)
  const open = (agentproto: object): Promise<Message> =>
    one.request('session/new', { cwd: home, mcpServers: [], _meta: { agentproto } })
  const opened = await open({ adapter: 'demo', label: 'theirs', permissionMode: 'approve-all' })
  const { stdout } = await cli(['sessions', 'show', 'theirs', '--json'], { home })
  expect(JSON.parse(stdout)).toMatchObject({ id: opened.result?.sessionId, permissionMode: 'approve-all' })
  expect((await open({ adapter: 'demo', colour: 'red' })).error).toMatchObject({
    code: -32602,
    message: expect.stringContaining('colour'),
  })
  expect((await open({ adapter: 'nope' })).error).toMatchObject({ code: -32602 })
})

test('an agent without a login gives the ACP error, and the login command that the editor gets works', async () => {
  const home = folder()
  const { login } = await ownAgent(home, { needsLogin: true })
  await cli(['adapters', 'install', 'own'], { home })
  await serve(home)
  const one = editor(home, '--adapter', 'own')
  const terminal = { protocolVersion: 1, clientCapabilities: { auth: { terminal: true } } }
  const { result } = await one.request('initialize', terminal)
  expect(result).toMatchObject({ authMethods: [{ type: 'terminal', args: ['--login'] }] })
  const refused = await one.request('session/new', { cwd: home, mcpServers: [] })
  expect(refused.error).toMatchObject({ code: -32000, data: { code: 'auth_required' } })
  expect(await cli(['acp', '--adapter', 'own', '--login'], { home })).toMatchObject({ code: 0, stdout: '' })
  expect(existsSync(login)).toBe(true)
  expect((await one.request('session/new', { cwd: home, mcpServers: [] })).error).toBeUndefined()
})

test('without a gateway and with --no-start, it exits at once with a hint on stderr', async () => {
  const ended = await cli(['acp', '--adapter', 'demo', '--no-start'], { home: folder() })
  expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('agentproto serve') })
})
