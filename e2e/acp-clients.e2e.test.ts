import type { SetSessionConfigOptionRequest } from '@agentclientprotocol/sdk'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { startDaemon } from './support/daemon.js'
import { startEditor, type Editor } from './support/editor.js'
import { startGateway, type TestGateway } from './support/gateway.js'
import { temporaryFolder } from './support/temporary-folder.js'

// The ACP client of the SDK, several at once, each with its own `agentproto acp` process as its agent.

const until = (condition: () => unknown): Promise<void> =>
  vi.waitFor(async () => expect(await condition()).toBeTruthy(), { timeout: 30_000, interval: 20 })

const named = ({ url, token }: Pick<TestGateway, 'url' | 'token'>): Record<string, string> => ({
  AGENTPROTO_URL: url,
  AGENTPROTO_TOKEN: token,
})

async function open({ agent }: Editor, cwd: string): Promise<string> {
  return (await agent.request('session/new', { cwd, mcpServers: [] })).sessionId
}

const load = async ({ agent }: Editor, sessionId: string, cwd: string): Promise<void> =>
  void (await agent.request('session/load', { sessionId, cwd, mcpServers: [] }))

const kindsOf = ({ updates }: Editor): string[] => updates.map(({ update }) => update.sessionUpdate)

interface AgentServer {
  readonly command: string
  readonly args: readonly string[]
}

test('the settings for each editor in docs/ide.md are JSON, and their command speaks ACP', async () => {
  const page = readFileSync(new URL('../docs/ide.md', import.meta.url), 'utf8')
  const blocks = [...page.matchAll(/^```json\n([^]*?)^```$/gm)].map(([, json = '']) => JSON.parse(json) as object)
  const servers = blocks.flatMap((block) =>
    'agent_servers' in block ? Object.values(block.agent_servers as object) : [],
  )
  expect([blocks.length, servers.length]).toEqual([2, 2])
  const gateway = await startGateway()
  for (const { command, args } of servers as AgentServer[]) {
    expect([command, args[0]]).toEqual(['agentproto', 'acp'])
    const editor = await startEditor(named(gateway), { flags: args.slice(1) })
    expect(await editor.agent.request('session/list', { cwd: '/' })).toEqual({ sessions: [] })
    // Its agent is not installed here, and the error says so.
    const opening = editor.agent.request('session/new', { cwd: gateway.cwd, mcpServers: [] })
    await expect(opening).rejects.toMatchObject({ data: { code: expect.stringMatching(/installed/) } })
  }
})

test('two editors in one session: each sees the prompts and tools of the other, and the first answer to a question counts', async () => {
  const gateway = await startGateway()
  const one = await startEditor(named(gateway), { flags: ['--adapter', 'demo'] })
  const two = await startEditor(named(gateway))
  const id = await open(one, gateway.cwd)
  await one.prompt(id, 'first')
  await load(two, id, gateway.cwd)
  expect([two.said('user_message_chunk'), two.said()]).toEqual(['first', 'echo: first'])

  const asking = one.prompt(id, 'ask a.txt by-two')
  await until(() => one.dialogs.length === 1 && two.dialogs.length === 1)
  two.dialogs[0]?.answer({ outcome: { outcome: 'selected', optionId: 'allow' } })
  expect(await asking).toEqual({ stopReason: 'end_turn' })
  await until(() => one.dialogs[0]?.taken())
  expect(two.dialogs[0]?.taken()).toBe(false)
  expect(readFileSync(join(gateway.cwd, 'a.txt'), 'utf8')).toBe('by-two\n')
  for (const editor of [one, two])
    await until(() => kindsOf(editor).includes('tool_call') && kindsOf(editor).includes('tool_call_update'))
  expect(two.said('user_message_chunk')).toBe('firstask a.txt by-two')
  // The prompt of an editor is not sent back to it.
  expect(one.said('user_message_chunk')).toBe('')

  const second = two.prompt(id, 'from two')
  expect(await second).toEqual({ stopReason: 'end_turn' })
  await until(() => one.said().endsWith('echo: from two'))
  expect(one.said('user_message_chunk')).toBe('from two')
})

test('a prompt waits for the turn of another editor; a cancel removes it from the queue and keeps that turn running', async () => {
  const gateway = await startGateway()
  const one = await startEditor(named(gateway), { flags: ['--adapter', 'demo'] })
  const two = await startEditor(named(gateway))
  const id = await open(one, gateway.cwd)
  await load(two, id, gateway.cwd)
  const first = one.prompt(id, 'stream 1; hang')
  await until(() => one.said().includes('chunk'))
  const waiting = two.prompt(id, 'waits')
  await until(async () => (await gateway.client.sessions.get(id)).queuedPrompts === 1)
  await two.agent.notify('session/cancel', { sessionId: id })
  expect(await waiting).toEqual({ stopReason: 'cancelled' })
  expect((await gateway.client.sessions.get(id)).turn).toMatchObject({ number: 1, state: 'busy' })
  const again = two.prompt(id, 'goes')
  await until(async () => (await gateway.client.sessions.get(id)).queuedPrompts === 1)
  await one.agent.notify('session/cancel', { sessionId: id })
  expect(await first).toEqual({ stopReason: 'cancelled' })
  expect(await again).toEqual({ stopReason: 'end_turn' })
  expect(two.said()).toContain('echo: goes')
  await until(() => one.said('user_message_chunk') === 'goes')
})

test('the editors of an ended session see when another client resumes it', async () => {
  const gateway = await startGateway()
  const one = await startEditor(named(gateway), { flags: ['--adapter', 'demo'] })
  const id = await open(one, gateway.cwd)
  await one.prompt(id, 'before')
  await gateway.client.sessions.kill(id)
  await gateway.client.sessions.resume(id)
  await gateway.client.sessions.promptAndWait(id, { prompt: 'after' })
  await until(() => one.said() === 'echo: beforeecho: after')
  expect(one.said('user_message_chunk')).toBe('after')
})

test('a load sends the whole history once, a resume none; modes, models and lists work', async () => {
  const gateway = await startGateway()
  mkdirSync(join(gateway.cwd, 'inner'))
  const one = await startEditor(named(gateway), { flags: ['--adapter', 'demo'] })
  const id = await open(one, gateway.cwd)
  for (const words of ['plan', 'usage', 'write b.txt hi', 'think']) await one.prompt(id, words)
  await open(one, join(gateway.cwd, 'inner'))
  const two = await startEditor(named(gateway), { flags: ['--adapter', 'demo'] })
  await load(two, id, gateway.cwd)
  const asTold = ({ updates }: Editor): unknown[] =>
    updates
      .filter(({ sessionId }) => sessionId === id)
      .map(({ update }) => update)
      .filter(({ sessionUpdate }) => !['user_message_chunk', 'available_commands_update'].includes(sessionUpdate))
  await vi.waitFor(() => expect(asTold(two)).toEqual(asTold(one)), { timeout: 30_000 })
  expect(two.said('user_message_chunk')).toBe('planusagewrite b.txt hithink')
  expect(kindsOf(two)).toEqual(expect.arrayContaining(['plan', 'usage_update', 'tool_call', 'agent_thought_chunk']))

  const three = await startEditor(named(gateway))
  const resumed = await three.agent.request('session/resume', { sessionId: id, cwd: gateway.cwd, mcpServers: [] })
  expect(resumed.modes?.currentModeId).toBe('default')
  await three.agent.request('session/set_mode', { sessionId: id, modeId: 'plan' })
  await until(() => kindsOf(two).includes('current_mode_update'))
  const set: SetSessionConfigOptionRequest = { sessionId: id, configId: 'model', value: 'demo-2' }
  expect((await three.agent.request('session/set_config_option', set)).configOptions).toMatchObject([
    {},
    { id: 'model', currentValue: 'demo-2' },
  ])
  await until(() => kindsOf(two).includes('config_option_update'))
  expect(three.said('user_message_chunk')).toBe('')
  const all = await three.agent.request('session/list', {})
  expect(all.sessions.map(({ cwd }) => cwd)).toEqual([join(gateway.cwd, 'inner'), gateway.cwd])
  expect((await three.agent.request('session/list', { cwd: gateway.cwd })).sessions).toMatchObject([
    { sessionId: id, title: 'plan' },
  ])
})

test('a question is a form in an editor with forms, and a fork knows the conversation', async () => {
  const gateway = await startGateway()
  const capabilities = { elicitation: { form: {} } }
  const one = await startEditor(named(gateway), { flags: ['--adapter', 'demo'], capabilities })
  const id = await open(one, gateway.cwd)
  const asking = one.prompt(id, 'question')
  await until(() => one.dialogs.length === 1)
  expect(one.dialogs[0]).toMatchObject({ method: 'elicitation/create', params: { sessionId: id, mode: 'form' } })
  one.dialogs[0]?.answer({ action: 'decline' })
  expect(await asking).toEqual({ stopReason: 'end_turn' })
  const fork = { sessionId: id, cwd: gateway.cwd }
  const forked = await one.agent.request<{ sessionId: string }, object>('session/fork', fork)
  expect(await one.prompt(forked.sessionId, 'recall')).toEqual({ stopReason: 'end_turn' })
  expect(one.said()).toContain('1: question')
})

test('F1 the turn of a killed editor keeps running, and the next editor gets its result', async () => {
  const gateway = await startGateway()
  const one = await startEditor(named(gateway), { flags: ['--adapter', 'demo'] })
  const id = await open(one, gateway.cwd)
  const lost = one.prompt(id, 'ask a.txt late').catch(() => 'gone')
  await until(() => one.dialogs.length === 1)
  await one.crash()
  expect(await lost).toBe('gone')
  const two = await startEditor(named(gateway))
  two.write('this is no JSON\n{"half":\n\n')
  await load(two, id, gateway.cwd)
  await until(() => two.dialogs.length === 1)
  expect(existsSync(join(gateway.cwd, 'a.txt'))).toBe(false)
  two.dialogs[0]?.answer({ outcome: { outcome: 'selected', optionId: 'allow' } })
  await until(() => existsSync(join(gateway.cwd, 'a.txt')))
  expect(await two.leave()).toEqual({ code: 0, stderr: '' })
  expect((await gateway.client.sessions.get(id)).status).toBe('running')
})

test('after the gateway is killed during a turn and restarted, the turn fails with a message, and the session continues', async () => {
  const home = temporaryFolder('home')
  const daemon = await startDaemon({ home, keeper: false })
  const env = { HOME: home, AGENTPROTO_HOME: join(home, '.agentproto') }
  const one = await startEditor(env, { flags: ['--adapter', 'demo'], capabilities: { session: { notices: {} } } })
  const id = await open(one, home)
  await one.prompt(id, 'remember heron')
  const lost = one.prompt(id, 'stream 1; hang').catch((error: unknown) => error)
  await until(() => one.said().includes('chunk'))
  await daemon.crash()
  await until(() => one.updates.some(({ update }) => update.sessionUpdate === 'notice'))
  // A request in between is refused, and the process keeps running.
  const refused = one.agent.request('session/list', {})
  await expect(refused).rejects.toMatchObject({ data: { code: 'daemon_not_running', retryable: true } })
  await startDaemon({ home })
  expect(await lost).toMatchObject({ code: -32603, data: { code: 'prompt_failed' } })
  const { length } = one.updates
  expect(await one.prompt(id, 'recall')).toEqual({ stopReason: 'end_turn' })
  const after = one.updates.slice(length).map(({ update }) => ('content' in update ? update.content : undefined))
  expect(JSON.stringify(after)).toContain('remember heron')
  expect((await one.leave()).code).toBe(0)
})
