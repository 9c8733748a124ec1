import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { acpxOf, type AcpxRun, remoteAcpxOf } from './support/acpx.js'
import { startGateway } from './support/gateway.js'
import { startOpenCodeGateway } from './support/opencode.js'
import { needs } from '../tooling/needs.ts'

// A third-party ACP client drives agents through `agentproto acp` and the gateway.

const LONG = { timeout: 30_000, interval: 50 }

test('acpx drives the demo agent: a turn, a permission granted and one denied', needs('acpx'), async () => {
  const gateway = await startGateway()
  const acpx = acpxOf(gateway)
  const said = await acpx.run('--adapter demo', ['--format', 'quiet', 'exec', 'hello there'])
  expect(said).toMatchObject({ code: 0, stdout: 'echo: hello there\n' })
  const allowed = await acpx.run('--adapter demo', ['--approve-all', 'exec', 'ask a.txt granted'])
  expect(allowed).toMatchObject({ code: 0, stdout: expect.stringContaining('[tool] Write a.txt (completed)') })
  expect(readFileSync(join(gateway.cwd, 'a.txt'), 'utf8')).toBe('granted\n')
  // The exit code of acpx for a denied permission.
  expect(await acpx.run('--adapter demo', ['--deny-all', 'exec', 'ask b.txt no'])).toMatchObject({ code: 5 })
  const { sessions } = await gateway.client.sessions.list()
  expect(sessions.map(({ title, status }) => [title, status])).toEqual([
    ['ask b.txt no', 'running'],
    ['ask a.txt granted', 'running'],
    ['hello there', 'running'],
  ])
})

test('acpx continues in an existing session, and the log has its turn', needs('acpx'), async () => {
  const gateway = await startGateway()
  const { id } = await gateway.client.sessions.start({ adapter: 'demo', cwd: gateway.cwd })
  await gateway.client.sessions.promptAndWait(id, { prompt: 'remember blue' })
  const acpx = acpxOf(gateway)
  const { code, stdout } = await acpx.run(`--session ${id}`, ['exec', 'recall'])
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('remember blue') })
  expect(await gateway.client.sessions.turns(id)).toHaveLength(2)
})

test(
  'acpx drives OpenCode through the gateway: an answer, a permission, a file',
  needs('acpx', 'opencode'),
  async () => {
    const gateway = await startOpenCodeGateway()
    const acpx = acpxOf(gateway)
    const said = await acpx.run('--adapter opencode', ['--format', 'json', 'exec', 'my number is 4711'])
    expect(said).toMatchObject({ code: 0, stderr: '' })
    const text = said.messages.flatMap(({ params }) => chunkOf(params)).join('')
    expect(text).toBe('echo: my number is 4711')
    expect(said.messages.at(-1)).toMatchObject({ result: { stopReason: 'end_turn' } })
    const wrote = await acpx.run('--adapter opencode', ['--approve-all', 'exec', 'WRITE hello.txt'])
    expect(wrote).toMatchObject({ code: 0, stdout: expect.stringContaining('[done] end_turn') })
    expect(readFileSync(join(gateway.cwd, 'hello.txt'), 'utf8')).toBe('mock wrote hello.txt\n')
  },
)

test(
  'acpx keeps a session of OpenCode through the gateway: list, cancel, continue, permission, close',
  needs('acpx', 'opencode'),
  async () => {
    const gateway = await startOpenCodeGateway()
    const { sessions } = gateway.client
    const acpx = acpxOf(gateway)
    // acpx keeps the session in its own process, which exits soon after its last work.
    const run = (...args: string[]): Promise<AcpxRun> => acpx.run('--adapter opencode', ['--ttl', '1', ...args])
    const opened = await run('sessions', 'new', '--name', 'one')
    expect(opened).toMatchObject({ code: 0 })
    const id = opened.stdout.trim().split('\n').at(-1) ?? ''
    expect(await run('prompt', '-s', 'one', 'my number is 4711')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('echo: my number is 4711'),
    })
    const listed = await run('--format', 'json', 'sessions', 'list')
    expect(listed.messages).toMatchObject([{ source: 'agent', sessions: [{ sessionId: id, cwd: gateway.cwd }] }])

    const slow = run('prompt', '-s', 'one', 'SLOW 200')
    await vi.waitFor(
      async () => expect((await sessions.get(id)).turn).toMatchObject({ number: 2, state: 'busy' }),
      LONG,
    )
    await vi.waitFor(async () => expect((await sessions.turn(id, 2)).state).toBe('running'), LONG)
    expect(await run('cancel', '-s', 'one')).toMatchObject({ code: 0 })
    expect((await slow).stdout).toContain('[done] cancelled')

    // The process that keeps the session answers permissions as it was started: the next mode needs the next process.
    const isGone = () => vi.waitFor(() => expect(acpx.mark.living()).toEqual([]), LONG)
    await isGone()
    await run('--deny-all', 'prompt', '-s', 'one', 'WRITE no.txt')
    await isGone()
    await run('--approve-all', 'prompt', '-s', 'one', 'WRITE yes.txt')
    expect([existsSync(join(gateway.cwd, 'no.txt')), existsSync(join(gateway.cwd, 'yes.txt'))]).toEqual([false, true])
    const turns = (await sessions.turns(id)).map(({ reason }) => reason)
    expect([turns[0], turns[1], turns.at(-1), turns.length]).toEqual(['end_turn', 'cancelled', 'end_turn', 4])
    expect(await run('sessions', 'close', 'one')).toMatchObject({ code: 0 })
    await isGone()
    expect((await sessions.get(id)).status).toBe('running')
  },
)

test(
  'acpx drives a gateway on another machine through agentproto acp --remote: exec, two turns, permissions, a cancel',
  needs('acpx'),
  async () => {
    const gateway = await startGateway()
    const { sessions, workspaces, tokens } = gateway.client
    await workspaces.add({ path: gateway.cwd, slug: 'shop' })
    const { token } = await tokens.create({ name: 'laptop', scope: 'operate' })
    const acpx = remoteAcpxOf({ url: gateway.url, token })
    const run = (...args: string[]): Promise<AcpxRun> =>
      acpx.run('--adapter demo --workspace shop', ['--ttl', '1', ...args])
    expect(await run('--format', 'quiet', 'exec', 'hello there')).toMatchObject({
      code: 0,
      stdout: 'echo: hello there\n',
    })
    // The process that keeps the session refuses prompts while it ends, so each begins after that.
    const isGone = () => vi.waitFor(() => expect(acpx.mark.living()).toEqual([]), LONG)

    const opened = await run('sessions', 'new', '--name', 'one')
    const id = opened.stdout.trim().split('\n').at(-1) ?? ''
    await isGone()
    await run('prompt', '-s', 'one', 'remember blue')
    await isGone()
    expect((await run('prompt', '-s', 'one', 'recall')).stdout).toContain('remember blue')
    await isGone()
    const slow = run('prompt', '-s', 'one', 'stream 1; hang')
    await vi.waitFor(async () => expect((await sessions.turn(id, 3)).state).toBe('running'), LONG)
    expect(await run('cancel', '-s', 'one')).toMatchObject({ code: 0 })
    expect((await slow).stdout).toContain('[done] cancelled')
    await isGone()
    await run('--deny-all', 'prompt', '-s', 'one', 'ask no.txt no')
    await isGone()
    await run('--approve-all', 'prompt', '-s', 'one', 'ask yes.txt yes')
    expect([existsSync(join(gateway.cwd, 'no.txt')), existsSync(join(gateway.cwd, 'yes.txt'))]).toEqual([false, true])
    await isGone()
    const turns = (await sessions.turns(id)).map(({ reason }) => reason)
    expect([turns.slice(0, 3), turns.length]).toEqual([['end_turn', 'end_turn', 'cancelled'], 5])
    expect((await sessions.get(id)).status).toBe('running')
  },
)

function chunkOf(params: unknown): string[] {
  const { update } = (params ?? {}) as { update?: { sessionUpdate?: string; content?: { text?: string } } }
  return update?.sessionUpdate === 'agent_message_chunk' ? [update.content?.text ?? ''] : []
}
