import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { startCutProxy } from './support/cut-proxy.js'
import { type Daemon, startDaemon } from './support/daemon.js'
import { type Editor, startEditor } from './support/editor.js'
import { temporaryFolder } from './support/temporary-folder.js'

// `agentproto acp --remote`: an editor with one home, and a gateway in a process of its own with another.

const LONG = { timeout: 30_000, interval: 20 }
const until = (condition: () => unknown): Promise<void> =>
  vi.waitFor(async () => expect(await condition()).toBeTruthy(), LONG)

/** An editor of another user, who has a token for the gateway in the environment. */
function remoteEditor(url: string, token: string, flags: readonly string[] = []): Promise<Editor> {
  const home = temporaryFolder('editor-home')
  const env = { HOME: home, AGENTPROTO_HOME: join(home, '.agentproto'), AGENTPROTO_TOKEN: token }
  const capabilities = { session: { notices: {} } }
  return startEditor(env, { flags: ['--remote', url, ...flags], capabilities })
}

const open = async ({ agent }: Editor, cwd: string): Promise<string> =>
  (await agent.request('session/new', { cwd, mcpServers: [] })).sessionId

const notices = ({ updates }: Editor): string =>
  JSON.stringify(updates.filter(({ update }) => update.sessionUpdate === 'notice'))

/** What `stream` of the demo agent says. */
const chunks = (count: number): string => Array.from({ length: count }, (_, index) => `chunk ${index + 1}\n`).join('')

const portOf = ({ url }: Daemon): string => new URL(url).port

test('an editor drives the agents of another home: turns, a permission, a cancel; its end is not that of the session', async () => {
  const home = temporaryFolder('home')
  const daemon = await startDaemon({ home })
  const { token } = await daemon.client.tokens.create({ name: 'laptop', scope: 'operate' })
  const shop = join(home, 'shop')
  mkdirSync(shop)
  await daemon.client.workspaces.add({ path: shop, slug: 'shop' })
  const editor = await remoteEditor(`ws://127.0.0.1:${portOf(daemon)}/acp/demo`, token, ['--workspace', 'shop'])
  // The folder of an editor is on its own machine.
  const lost = await remoteEditor(daemon.url, token, ['--adapter', 'demo'])
  await expect(open(lost, '/nowhere/on/that/machine')).rejects.toThrow('Add --workspace <slug>')
  const id = await open(editor, '/nowhere/on/that/machine')
  expect(await editor.prompt(id, 'remember blue')).toEqual({ stopReason: 'end_turn' })
  const asking = editor.prompt(id, 'ask a.txt granted')
  await until(() => editor.dialogs.length === 1)
  editor.dialogs[0]?.answer({ outcome: { outcome: 'selected', optionId: 'allow' } })
  expect(await asking).toEqual({ stopReason: 'end_turn' })
  expect(readFileSync(join(shop, 'a.txt'), 'utf8')).toBe('granted\n')
  const hanging = editor.prompt(id, 'stream 1; hang')
  await until(() => editor.said().includes('chunk'))
  await editor.agent.notify('session/cancel', { sessionId: id })
  expect(await hanging).toEqual({ stopReason: 'cancelled' })
  void editor.prompt(id, 'ask b.txt later').catch(() => undefined)
  await until(() => editor.dialogs.length === 2)
  expect(await editor.leave()).toEqual({ code: 0, stderr: '' })
  const next = await remoteEditor(daemon.url, token)
  await next.agent.request('session/load', { sessionId: id, cwd: '/', mcpServers: [] })
  await until(() => next.dialogs.length === 1)
  next.dialogs[0]?.answer({ outcome: { outcome: 'selected', optionId: 'allow' } })
  await until(() => existsSync(join(shop, 'b.txt')))
})

test('a gateway elsewhere is killed with -9 in mid-turn and is back: its prompt ends, nothing is missing and nothing is there twice', async () => {
  const home = temporaryFolder('home')
  const daemon = await startDaemon({ home })
  const editor = await remoteEditor(daemon.url, daemon.token, ['--adapter', 'demo'])
  const id = await open(editor, home)
  const prompting = editor.prompt(id, 'stream 100 30')
  await until(() => editor.said().includes('chunk 5\n'))
  await daemon.crash()
  // Sent while there is no gateway: both wait for it.
  const listing = editor.agent.request('session/list', {})
  const second = editor.prompt(id, 'second')
  await until(() => notices(editor).includes('not reachable'))
  await startDaemon({ home, args: ['--port', portOf(daemon)] })
  expect(await prompting).toEqual({ stopReason: 'end_turn' })
  expect((await listing).sessions).toMatchObject([{ sessionId: id }])
  expect(await second).toEqual({ stopReason: 'end_turn' })
  expect(editor.said()).toBe(`${chunks(100)}echo: second`)
  expect((await editor.leave()).code).toBe(0)
})

test('a gateway elsewhere that loses its agents with it: the prompt fails with a message, and the next one goes on', async () => {
  const home = temporaryFolder('home')
  const daemon = await startDaemon({ home, keeper: false })
  const editor = await remoteEditor(daemon.url, daemon.token, ['--adapter', 'demo'])
  const id = await open(editor, home)
  await editor.prompt(id, 'remember heron')
  const lost = editor.prompt(id, 'stream 1; hang').catch((error: unknown) => error)
  await until(() => editor.said().includes('chunk'))
  await daemon.crash()
  await startDaemon({ home, keeper: false, args: ['--port', portOf(daemon)] })
  expect(await lost).toMatchObject({ code: -32603, data: { code: 'prompt_failed' } })
  expect(await editor.prompt(id, 'recall')).toEqual({ stopReason: 'end_turn' })
  expect(editor.said()).toContain('remember heron')
})

test('the network is cut in mid-turn, twice: nothing is missing, and what was sent meanwhile is done once', async () => {
  const home = temporaryFolder('home')
  const daemon = await startDaemon({ home })
  const network = await startCutProxy(daemon.url)
  const url = `http://127.0.0.1:${network.port}`
  const editor = await remoteEditor(url, daemon.token, ['--adapter', 'demo'])
  const id = await open(editor, home)
  const prompting = editor.prompt(id, 'stream 120 25; ask a.txt once')
  for (const seen of ['chunk 5\n', 'chunk 40\n']) {
    await until(() => editor.said().includes(seen))
    network.cut()
    const before = network.opened()
    await until(() => network.opened() > before + 3)
    network.restore()
  }
  await until(() => editor.dialogs.length === 1)
  network.cut()
  editor.dialogs[0]?.answer({ outcome: { outcome: 'selected', optionId: 'allow' } })
  const second = editor.prompt(id, 'second')
  const before = network.opened()
  await until(() => network.opened() > before + 3)
  network.restore()
  expect(await prompting).toEqual({ stopReason: 'end_turn' })
  expect(await second).toEqual({ stopReason: 'end_turn' })
  expect(editor.said().startsWith(chunks(120))).toBe(true)
  expect(editor.said().match(/chunk/g)).toHaveLength(120)
  expect(editor.said().match(/echo: second/g)).toHaveLength(1)
  expect(editor.dialogs).toHaveLength(1)
  expect(readFileSync(join(home, 'a.txt'), 'utf8')).toBe('once\n')
  expect((await daemon.client.sessions.turns(id)).map(({ reason }) => reason)).toEqual(['end_turn', 'end_turn'])
})

test('a token that is revoked in mid-turn: the prompt fails and says what to do, nothing is tried for ever, and the turn goes on', async () => {
  const home = temporaryFolder('home')
  const daemon = await startDaemon({ home })
  await daemon.client.workspaces.add({ path: home, slug: 'shop' })
  const { token } = await daemon.client.tokens.create({ name: 'laptop', scope: 'operate' })
  const network = await startCutProxy(daemon.url)
  const url = `http://127.0.0.1:${network.port}`
  const editor = await remoteEditor(url, token, ['--adapter', 'demo', '--workspace', 'shop'])
  const id = await open(editor, home)
  const prompting = editor.prompt(id, 'stream 1; hang').catch((error: unknown) => error)
  await until(() => editor.said().includes('chunk'))
  await daemon.client.tokens.revoke('laptop')
  expect(await prompting).toMatchObject({
    message: expect.stringMatching(/does not accept.*agentproto token create/),
    data: { code: 'unauthorized' },
  })
  const opened = network.opened()
  await expect(editor.prompt(id, 'again')).rejects.toMatchObject({ data: { code: 'unauthorized' } })
  await expect(editor.agent.request('session/list', {})).rejects.toMatchObject({ data: { code: 'unauthorized' } })
  expect(network.opened() - opened).toBeLessThan(6)
  expect((await daemon.client.sessions.get(id)).turn).toMatchObject({ number: 1, state: 'busy' })
  expect((await editor.leave()).code).toBe(0)
})

test('the end of stdin ends the bridge at once, also while its gateway is away and requests wait for it; so does SIGTERM', async () => {
  const home = temporaryFolder('home')
  const daemon = await startDaemon({ home })
  const [one, two] = await Promise.all([1, 2].map(() => remoteEditor(daemon.url, daemon.token, ['--adapter', 'demo'])))
  if (one === undefined || two === undefined) throw new Error('no editors')
  for (const editor of [one, two]) {
    const id = await open(editor, home)
    void editor.prompt(id, 'stream 1; hang').catch(() => undefined)
    await until(() => editor.said().includes('chunk'))
  }
  await daemon.crash()
  for (const editor of [one, two]) {
    void editor.agent.request('session/list', {}).catch(() => undefined)
    await until(() => notices(editor).includes('not reachable'))
  }
  const at = Date.now()
  expect((await one.leave()).code).toBe(0)
  expect(await two.signal('SIGTERM')).toEqual({ code: null, signal: 'SIGTERM' })
  // Neither waits for the gateway, which it would do for two minutes.
  expect(Date.now() - at).toBeLessThan(20_000)
})
