import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentAnswer } from '@agentproto/contracts'
import { connectAcp } from '@agentproto/acp'
import type { AcpConnection } from '@agentproto/acp'
import { findMarkedProcesses, identify } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { TerminalOutput } from '../src/terminal-output.js'
import { fixture, recorder } from './connecting.ts'
import type { Recorder } from './connecting.ts'

interface Answer {
  readonly result?: Record<string, unknown>
  readonly error?: { readonly code: number; readonly message: string }
}

interface Hosted {
  readonly connection: AcpConnection
  readonly marker: string
  readonly root: string
  readonly outside: string
  readonly sink: Recorder
  ask(...requests: readonly object[]): Promise<readonly Answer[]>
  close(): Promise<void>
}

const ALLOW: AgentAnswer = { outcome: 'selected', optionId: 'allow' }

async function hosted(answer: AgentAnswer = ALLOW, serve = { fs: true, terminal: true }): Promise<Hosted> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'acp-hosted-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const [root, outside] = [join(folder, 'root'), join(folder, 'outside')]
  await Promise.all([mkdir(root), mkdir(outside)])
  const options = { ...fixture('hosted'), serve }
  const connection = await connectAcp(options)
  onTestFinished(async () => void (await connection.close()))
  const sink = recorder(answer)
  const opening = { cwd: root, additionalDirectories: [], mcpServers: [], origin: { how: 'new' } } as const
  const session = await connection.openSession(opening, sink)
  const ask = async (...requests: readonly object[]): Promise<readonly Answer[]> => {
    const before = sink.text().length
    await session.send([{ type: 'text', text: JSON.stringify(requests) }])
    return JSON.parse(sink.text().slice(before)) as readonly Answer[]
  }
  return { connection, marker: options.launch.marker, root, outside, sink, ask, close: () => session.close() }
}

const read = (path: string, more: object = {}): object => ({ method: 'fs/read_text_file', path, ...more })
const write = (path: string, content: string): object => ({ method: 'fs/write_text_file', path, content })
const run = (command: string, args: readonly string[] = [], more: object = {}): object => ({
  method: 'terminal/create',
  command,
  args,
  ...more,
})
const WAIT = { method: 'terminal/wait_for_exit' }
const OUTPUT = { method: 'terminal/output' }

test('F82 an agent reads in its folders; to write is asked for, with what is to be written', async () => {
  const { ask, root, sink } = await hosted()
  await writeFile(join(root, 'a.txt'), 'one\ntwo\nthree')
  const path = join(root, 'new', 'b.txt')
  const answers = await ask(
    read(join(root, 'a.txt')),
    read(join(root, 'a.txt'), { line: 2, limit: 1 }),
    write(path, 'text'),
  )
  expect(answers).toEqual([{ result: { content: 'one\ntwo\nthree' } }, { result: { content: 'two' } }, { result: {} }])
  expect(await readFile(path, 'utf8')).toBe('text')
  expect(sink.asked.map(({ request }) => request)).toMatchObject([
    {
      kind: 'permission',
      toolCall: { kind: 'edit', title: `Write ${path}`, content: [{ type: 'diff', path, newText: 'text' }] },
    },
  ])
})

test('F82 what is denied is not written and not run', async () => {
  const { ask, root } = await hosted({ outcome: 'selected', optionId: 'reject' })
  const [written, ran] = await ask(write(join(root, 'x'), 'x'), run('touch', ['y']))
  expect([written?.error?.message, ran?.error?.message]).toEqual([
    `Permission denied: Write ${join(root, 'x')}`,
    'Permission denied: touch y',
  ])
  expect([existsSync(join(root, 'x')), existsSync(join(root, 'y'))]).toEqual([false, false])
})

test('nothing outside the folders of the session is reached, by dots, by links or by NUL', async () => {
  const { ask, root, outside, sink } = await hosted()
  await writeFile(join(outside, 'secret'), 'secret')
  await symlink(outside, join(root, 'folder'))
  await symlink(join(outside, 'secret'), join(root, 'link'))
  await symlink(join(outside, 'not yet'), join(root, 'dangling'))
  const paths = [
    join(outside, 'secret'),
    `${root}/../outside/secret`,
    join(root, 'folder', 'secret'),
    join(root, 'link'),
    `${root}/a\0b`,
    'relative',
    '/',
  ]
  const targets = [...paths, join(root, 'folder', 'new'), join(root, 'dangling')]
  const answers = await ask(
    ...paths.map((path) => read(path)),
    ...targets.map((path) => write(path, 'x')),
    run('pwd', [], { cwd: outside }),
  )
  expect(answers.map(({ error }) => error?.code)).toEqual(answers.map(() => -32_602))
  expect(JSON.stringify(answers)).not.toContain('"secret"')
  expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('secret')
  expect(existsSync(join(outside, 'not yet'))).toBe(false)
  expect(sink.asked).toEqual([])
})

test('what is no file, or not there, is said in words that agents know', async () => {
  const { ask, root } = await hosted()
  const [absent, folder] = await ask(read(join(root, 'absent')), read(root))
  expect(absent?.error).toEqual({ code: -32_002, message: `Resource not found: ${join(root, 'absent')}` })
  expect(folder?.error?.message).toContain('no file')
})

test('a command runs in the session’s folder with the agent’s environment, and says how it ended', async () => {
  const { ask, root, sink } = await hosted()
  const script = 'echo "$PWD $WORD"; cat; echo oops >&2; exit 3'
  const [created, exit, output] = await ask(
    run('sh', ['-c', script], { env: [{ name: 'WORD', value: 'heron' }] }),
    WAIT,
    OUTPUT,
  )
  expect(created?.result).toEqual({ terminalId: expect.any(String) as string })
  expect(exit?.result).toEqual({ exitCode: 3, signal: null })
  expect(output?.result).toMatchObject({ truncated: false, exitStatus: { exitCode: 3 } })
  expect(output?.result?.['output']).toContain(`${root} heron\n`)
  expect(output?.result?.['output']).toContain('oops\n')
  expect(sink.asked[0]?.request).toMatchObject({
    toolCall: { kind: 'execute', title: `WORD=heron sh -c ${script}`, input: { cwd: root } },
  })
})

test('16.1 the permission for a command shows the variables that the agent gives it, in the order in which it gives them', async () => {
  const { ask, sink } = await hosted()
  const env = [
    { name: 'WORD', value: 'heron' },
    { name: '__proto__', value: 'a b' },
  ]
  await ask(run('true', [], { env }), run('true'))
  const asked = sink.asked.flatMap(({ request }) => (request.kind === 'permission' ? [request.toolCall] : []))
  const [withVariables, without] = asked
  expect(withVariables).toMatchObject({ title: 'WORD=heron __proto__=a b true', input: { command: 'true', env } })
  expect(without).toMatchObject({ title: 'true' })
  expect(without?.input).not.toHaveProperty('env')
})

test('the output of a command is bounded, and its end is what is kept', async () => {
  const { ask } = await hosted()
  const [, , output] = await ask(run('seq', ['200000'], { outputByteLimit: 1000 }), WAIT, OUTPUT)
  const text = String(output?.result?.['output'])
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1000)
  expect(text.endsWith('200000\n')).toBe(true)
  expect(output?.result?.['truncated']).toBe(true)
})

test('a character is not cut in two', () => {
  const output = new TerminalOutput(5)
  output.add(['ääää'])
  expect(output.read()).toEqual({ output: 'ää\n', truncated: true })
})

test('a command that is killed can still be read; one that is released cannot; one that is unknown is said', async () => {
  const { ask } = await hosted()
  const answers = await ask(
    run('sh', ['-c', 'echo begun; exec sleep 60']),
    { method: 'terminal/kill' },
    OUTPUT,
    { method: 'terminal/release' },
    OUTPUT,
    run('no-such-command-anywhere'),
    run('sh', [], { env: [{ name: 'A=B', value: '' }] }),
  )
  expect(answers[2]?.result).toMatchObject({ exitStatus: { exitCode: null, signal: 'SIGTERM' } })
  expect(answers.slice(4).map(({ error }) => error?.code)).toEqual([-32_002, -32_002, -32_602])
})

test('F22 commands and what they started end with their session, and with the connection', async () => {
  const { ask, close, marker, root } = await hosted()
  const script = 'setsid sleep 60 & echo $! > grandchild; exec sleep 60'
  await ask(run('sh', ['-c', script]))
  await expect.poll(() => existsSync(join(root, 'grandchild'))).toBe(true)
  const grandchild = Number(await readFile(join(root, 'grandchild'), 'utf8'))
  expect(findMarkedProcesses(marker).length).toBeGreaterThanOrEqual(3)
  await close()
  expect(identify(grandchild)).toBeUndefined()
  expect(findMarkedProcesses(marker)).toHaveLength(1)
  const other = await hosted()
  await other.ask(run('sleep', ['60']))
  await other.connection.close()
  expect(findMarkedProcesses(other.marker)).toEqual([])
})

test('F22 a command that the agent ran while its session was loaded ends when the load fails', async () => {
  const { connection, marker, root, sink } = await hosted()
  const origin = { how: 'load', agentSessionId: 'old' } as const
  const opening = connection.openSession({ cwd: root, additionalDirectories: [], mcpServers: [], origin }, sink)
  await expect(opening).rejects.toMatchObject({ code: 'not_resumable' })
  expect(findMarkedProcesses(marker)).toHaveLength(1)
})

test('what the host does not offer is refused as unknown', async () => {
  const { ask, root } = await hosted(ALLOW, { fs: true, terminal: false })
  await writeFile(join(root, 'a'), 'a')
  const [content, created] = await ask(read(join(root, 'a')), run('true'))
  expect(content?.result).toEqual({ content: 'a' })
  expect(created?.error?.code).toBe(-32_601)
})
