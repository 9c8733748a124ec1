import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, folder, serve, start, type Ended } from './cli-process.js'
import { ownAgent } from './own-agent.js'

async function gateway(label: string): Promise<{ home: string; run(...args: string[]): Promise<Ended> }> {
  const home = folder()
  await serve(home)
  const run = (...args: string[]): Promise<Ended> => cli(args, { home })
  await run('sessions', 'start', 'demo', '--label', label, '--cwd', home)
  return { home, run }
}

test('wait follows a turn to its end, prints its answer and exits with its code', async () => {
  const { home, run } = await gateway('try')
  expect(await run('sessions', 'wait', 'try')).toMatchObject({
    code: 4,
    stdout: '',
    stderr: expect.stringContaining('agentproto sessions prompt'),
  })
  await run('sessions', 'prompt', 'try', 'late 300')
  const waited = await run('sessions', 'wait', 'try', '--json')
  expect(waited.code).toBe(0)
  expect(JSON.parse(waited.stdout)).toMatchObject({ turn: 1, reason: 'end_turn' })
  await run('sessions', 'prompt', 'try', 'hello', '--wait')
  expect(await run('sessions', 'wait', 'try')).toMatchObject({ code: 0, stdout: 'echo: hello\n' })
  expect((await run('sessions', 'wait', 'try', '--turn', '1')).stdout).not.toContain('hello')
  expect(await run('sessions', 'wait', 'try', '--turn', '9')).toMatchObject({ code: 4 })
  await run('sessions', 'prompt', 'try', 'hang')
  expect(await run('sessions', 'wait', 'try', '--timeout', '0.2')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('agentproto sessions interrupt'),
  })
  const waiting = start(['sessions', 'wait', 'try'], { home })
  await run('sessions', 'interrupt', 'try')
  expect(await waiting.ended).toMatchObject({ code: 130 })
})

test('a prompt to a busy session is queued or interrupts, by --when-busy', async () => {
  const { run } = await gateway('busy')
  await run('sessions', 'prompt', 'busy', 'late 500')
  const queued = await run('sessions', 'prompt', 'busy', 'second', '--when-busy', 'queue', '--wait')
  expect(queued).toMatchObject({ code: 0, stdout: 'echo: second\n' })
  await run('sessions', 'prompt', 'busy', 'hang')
  const instead = await run('sessions', 'prompt', 'busy', 'third', '--when-busy', 'interrupt', '--wait')
  expect(instead).toMatchObject({ code: 0, stdout: 'echo: third\n' })
  // The agent gets the reason of the interrupt (F19).
  expect((await run('sessions', 'events', 'busy', '--json')).stdout).toMatch(/"kind": ?"interruption"/)
  expect(await run('sessions', 'prompt', 'busy', 'x', '--when-busy', 'later')).toMatchObject({ code: 2, stdout: '' })
})

test('Ctrl-C cancels the queued prompt, and not the turn of another client', async () => {
  const { home, run } = await gateway('shared')
  await run('sessions', 'prompt', 'shared', 'hang')
  const waiting = start(['sessions', 'prompt', 'shared', 'mine', '--when-busy', 'queue', '--wait'], { home })
  const session = async (): Promise<unknown> => JSON.parse((await run('sessions', 'show', 'shared', '--json')).stdout)
  await expect.poll(session, { timeout: 30_000 }).toMatchObject({ queuedPrompts: 1 })
  waiting.child.kill('SIGINT')
  expect(await waiting.ended).toMatchObject({ code: 130 })
  expect(await session()).toMatchObject({ turn: { number: 1, state: 'busy' } })
})

test('@file attaches a file; piped text is unchanged', async () => {
  const { home, run } = await gateway('files')
  writeFileSync(join(home, 'notes.txt'), 'forty-two')
  writeFileSync(join(home, 'a b.txt'), 'spaced')
  const attached = await run('sessions', 'prompt', 'files', 'see @notes.txt, and @"a b.txt"', '--wait')
  expect(attached).toMatchObject({ code: 0, stderr: '' })
  const events = (await run('sessions', 'events', 'files', '--json')).stdout
  const prompt = JSON.parse(events.split('\n').find((line) => line.includes('"user-prompt"')) ?? '') as {
    content: unknown
  }
  expect(prompt.content).toMatchObject([
    { type: 'text', text: 'see @notes.txt, and @"a b.txt"' },
    { type: 'resource', resource: { text: 'forty-two' } },
    { type: 'resource', resource: { text: 'spaced' } },
  ])
  expect(await run('sessions', 'prompt', 'files', 'see @missing.txt', '--wait')).toMatchObject({
    code: 0,
    stdout: 'echo: see @missing.txt\n',
    stderr: 'agentproto: @missing.txt is sent as text: there is no such file\n',
  })
  const piped = await cli(['sessions', 'prompt', 'files', '-', '--wait'], { home, input: '@notes.txt' })
  expect(piped).toMatchObject({ stdout: 'echo: @notes.txt\n', stderr: '' })
  expect((await run('sessions', 'prompt', 'files', '\\@notes.txt', '--wait')).stdout).toBe('echo: @notes.txt\n')
})

test('logs prints the last lines, and new ones with -f', async () => {
  const { home, run } = await gateway('talks')
  await run('sessions', 'prompt', 'talks', 'one', '--wait')
  await run('sessions', 'prompt', 'talks', 'two', '--wait')
  expect((await run('sessions', 'logs', 'talks')).stdout).toMatch(/echo: one[\s\S]*echo: two/)
  const last = (await run('sessions', 'logs', 'talks', '-n', '3')).stdout
  expect(last).toContain('echo: two')
  expect(last).not.toContain('echo: one')
  expect(JSON.parse((await run('sessions', 'logs', 'talks', '--json', '-n', '1')).stdout)).toMatchObject({
    line: expect.any(String),
    stream: 'stdout',
  })
  const following = start(['sessions', 'logs', 'talks', '-f', '-n', '3'], { home })
  await following.line(/echo: two/)
  const third = following.line(/echo: three/)
  await run('sessions', 'prompt', 'talks', 'three', '--wait')
  await third
  await run('sessions', 'kill', 'talks')
  const { code, stdout } = await following.ended
  expect(code).toBe(0)
  expect(stdout).not.toContain('echo: one')
})

test('config shows what the agent offers, and sets it', async () => {
  const { run } = await gateway('knobs')
  expect((await run('sessions', 'config', 'knobs')).stdout).toMatch(/^mode +default +default plan$/m)
  const set = await run('sessions', 'config', 'knobs', '--model', 'demo-2', '--mode', 'plan', '--json')
  expect(set.code).toBe(0)
  expect(JSON.parse(set.stdout)).toMatchObject({ modeId: 'plan', modelId: 'demo-2' })
  const asked = await run('sessions', 'config', 'knobs', '--permissions', 'approve-all')
  expect(asked.stdout).toMatch(/^permissions +approve-all +ask approve-reads approve-all deny-all$/m)
  expect((await run('sessions', 'events', 'knobs')).stdout).toMatch(/ config .*"permissionMode":"approve-all".*owner/)
  expect(await run('sessions', 'config', 'knobs', '--mode', 'nope')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('plan'),
  })
})

test('12.B6 rename gives a session another label, by which commands then find it, and a title', async () => {
  const { run } = await gateway('before')
  const renamed = await run('sessions', 'rename', 'before', '--label', 'after', '--title', 'Fix it')
  expect(renamed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^s_\w+\n$/), stderr: '' })
  expect((await run('sessions', 'show', 'before')).code).toBe(4)
  expect(JSON.parse((await run('sessions', 'show', 'after', '--json')).stdout)).toMatchObject({ title: 'Fix it' })
  await run('sessions', 'start', 'demo', '--label', 'other')
  expect(await run('sessions', 'rename', 'other', '--label', 'after')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(renamed.stdout.trim()),
  })
  const unnamed = JSON.parse((await run('sessions', 'rename', 'after', '--label', '', '--json')).stdout)
  expect(unnamed).not.toHaveProperty('label')
  expect((await run('sessions', 'rename', 'other')).code).toBe(2)
})

test('fork starts a session that knows the conversation', async () => {
  const { run } = await gateway('first')
  await run('sessions', 'prompt', 'first', 'remember blue', '--wait')
  const forked = await run('sessions', 'fork', 'first', '--label', 'second')
  expect(forked).toMatchObject({ code: 0, stderr: '' })
  expect(forked.stdout).toMatch(/^s_\w+\n$/)
  expect((await run('sessions', 'prompt', 'second', 'recall', '--wait')).stdout).toContain('remember blue')
})

test('with --json a command prints one document and nothing else', async () => {
  const { run } = await gateway('json')
  const shapes: [string[], object][] = [
    [['interrupt', 'json'], { id: expect.any(String), wasBusy: false }],
    [['show', 'json'], { label: 'json', status: 'running' }],
    [['kill', 'json'], { sessions: [{ ok: true, id: expect.any(String) }] }],
    [['resume', 'json'], { label: 'json', status: 'running', resumedHow: expect.any(String) }],
    [['rm', 'json'], { sessions: [{ ok: true, id: expect.any(String) }] }],
  ]
  for (const [args, shape] of shapes) {
    const { code, stdout, stderr } = await run('sessions', ...args, '--json')
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject(shape)
  }
})

test('--continuation chooses how a conversation is continued, if the adapter supports it', async () => {
  const { home, run } = await gateway('by-text')
  await ownAgent(home)
  for (const refused of [
    ['sessions', 'start', 'own', '--continuation', 'transcript'],
    ['run', 'own', 'hello', '--continuation', 'transcript'],
  ]) {
    expect(await run(...refused)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/none.*transcript/),
    })
  }
  await run(
    'sessions',
    'start',
    'demo',
    '--label',
    'text',
    '--cwd',
    home,
    '--continuation',
    'transcript',
    '-p',
    'hello',
  )
  await run('sessions', 'wait', 'text')
  await run('sessions', 'kill', 'text')
  expect((await run('sessions', 'resume', 'text')).stderr).toContain('gets the transcript of the old one')
  const shown = JSON.parse((await run('sessions', 'show', 'text', '--json')).stdout)
  expect(shown).toMatchObject({ status: 'running', resumedHow: 'transcript' })
  await run('sessions', 'kill', 'text')
  const natively = await run('sessions', 'resume', 'text', '--continuation', 'native-resume', '--json')
  expect(JSON.parse(natively.stdout)).toMatchObject({
    status: 'running',
    resumedHow: expect.stringMatching(/resume|load/),
  })
  expect(await run('run', 'demo', 'hello', '--continuation', 'none')).toMatchObject({
    code: 0,
    stdout: 'echo: hello\n',
  })
})

test('12 kill --json prints what it has killed, also if a later session is not found', async () => {
  const { run } = await gateway('try')
  const { code, stdout, stderr } = await run('sessions', 'kill', 'try', 's_00000000', '--json')
  expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining('s_00000000') })
  expect(JSON.parse(stdout)).toEqual({ sessions: [{ ok: true, id: expect.stringMatching(/^s_/) as string }] })
})
