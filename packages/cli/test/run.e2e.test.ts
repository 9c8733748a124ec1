import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, folder, start } from './cli-process.js'

const run = (prompt: string, ...args: readonly string[]): ReturnType<typeof cli> => {
  const home = folder()
  return cli(['run', 'demo', '--prompt', prompt, ...args], { home })
}

test('stdout has the answer and nothing else', async () => {
  expect(await run('hello')).toEqual({ code: 0, stdout: 'echo: hello\n', stderr: expect.any(String) as string })
})

test('14.1.3 a run without a terminal says at its start what it does with questions', async () => {
  expect((await run('hello')).stderr).toMatch(/^agentproto: no terminal: every permission is denied/)
  expect((await run('hello', '--permissions', 'approve-reads')).stderr).toMatch(/reads are allowed; other permissions/)
  expect(await run('hello', '--output', 'quiet')).toMatchObject({ stderr: '' })
})

test('the prompt can come from stdin', async () => {
  expect(await cli(['run', 'demo', '-'], { home: folder(), input: 'hello\nthere\n' })).toMatchObject({
    code: 0,
    stdout: 'echo: hello\nthere\n',
  })
  expect(await cli(['run', 'demo', '-'], { home: folder(), input: ' \n' })).toMatchObject({ code: 2, stdout: '' })
})

test('everything but the answer goes to stderr', async () => {
  const { code, stdout, stderr } = await run('write a.txt hi', '--permissions', 'approve-all')
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'I wrote a.txt.\n' })
  expect(stderr).toContain('● Write a.txt')
  expect(stderr).toContain('+ hi')
})

test('the agent runs in --cwd', async () => {
  const [home, cwd] = [folder(), folder('work')]
  await cli(['run', 'demo', '-p', 'write made.txt x', '--cwd', cwd], { home })
  expect(existsSync(join(cwd, 'made.txt'))).toBe(true)
})

test('--json prints one object', async () => {
  const { code, stdout } = await run('hello', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    adapter: 'demo',
    turn: 1,
    reason: 'end_turn',
    text: 'echo: hello',
    empty: false,
    refused: 0,
  })
})

test('F69 --output jsonl prints each event', async () => {
  const running = start(['run', 'demo', '-p', 'stream 2; hang', '--output', 'jsonl'], { home: folder() })
  expect(JSON.parse(await running.line(/text-delta/))).toMatchObject({ type: 'text-delta', turn: 1 })
  running.child.kill('SIGINT')
  const { code, stdout, stderr } = await running.ended
  expect(code).toBe(130)
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type)
      .at(-1),
  ).toBe('turn-end')
  expect(JSON.parse(stderr)).toMatchObject({ code: 'cancelled' })
})

test('--output quiet prints the whole text at the end', async () => {
  expect(await run('stream 3', '--output', 'quiet')).toMatchObject({
    code: 0,
    stdout: 'chunk 1\nchunk 2\nchunk 3\n',
    stderr: '',
  })
})

test('F79 without a terminal a permission is denied at once', async () => {
  const { code, stdout, stderr } = await run('ask b.txt')
  expect({ code, stdout }).toEqual({ code: 5, stdout: 'I was not allowed to write b.txt.\n' })
  expect(stderr).toMatch(/no terminal to ask: Write b\.txt/)
  expect(stderr).toMatch(/--permissions approve-reads or approve-all\.\n$/)
})

test('F79 without a terminal a question is declined', async () => {
  expect(await run('question what')).toMatchObject({ code: 0, stdout: expect.stringContaining('decline') })
})

test.each([
  ['approve-all', 0],
  ['deny-all', 5],
])('--permissions %s exits with %i', async (mode, code) => {
  expect(await run('ask b.txt', '--permissions', mode)).toMatchObject({ code })
})

test.each([
  ['approve-all', 'permissions are allowed'],
  ['deny-all', 'every permission is denied'],
])('%s answers, and says so before it starts', async (mode, words) => {
  const { stderr } = await run('ask b.txt hi', '--permissions', mode)
  expect(stderr).toContain(`(${mode})`)
  expect(stderr).toMatch(new RegExp(`^agentproto: no terminal: ${words}`))
})

test.each([
  ['fail on purpose', 1, /on purpose/],
  ['crash 3', 1, /agentproto: /],
  ['stop because', 1, /because/],
])('%s exits with %i and says why', async (prompt, code, message) => {
  const ended = await run(prompt)
  expect(ended.code).toBe(code)
  expect(ended.stderr).toMatch(message)
})

test('an unknown adapter or mode is refused before an agent starts', async () => {
  const home = folder()
  expect(await cli(['run', 'nope', '-p', 'x'], { home })).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('demo'),
  })
  expect(await cli(['run', 'demo', '-p', 'x', '--mode', 'nope'], { home })).toMatchObject({ code: 2, stdout: '' })
})

test('--timeout interrupts and exits with 3', async () => {
  const { code, stderr } = await run('hang', '--timeout', '0.5')
  expect(code).toBe(3)
  expect(stderr).toMatch(/The turn took longer than 0\.5 s/)
})

test('Ctrl-C twice ends a run whose agent does not react', async () => {
  const running = start(['run', 'demo', '-p', 'stream 1; hang!'], { home: folder() })
  await running.line(/chunk 1/)
  running.child.kill('SIGINT')
  running.child.kill('SIGINT')
  setTimeout(() => running.child.kill('SIGINT'), 100)
  expect(await running.ended).toMatchObject({ code: 130 })
})

test.each([150, 250, 400])(
  'Ctrl-C %i ms after the start ends it as interrupted and leaves nothing running',
  async (ms) => {
    const running = start(['run', 'demo', '-p', 'hang'], { home: folder() })
    await once(running.child, 'spawn')
    setTimeout(() => running.child.kill('SIGINT'), ms)
    const { code, stderr } = await running.ended
    // It may have said before what it does without a terminal.
    const said = stderr.replace(/^agentproto: no terminal: .*\n/, '')
    // Before the handler is installed, the signal itself ends the process.
    const ours = { code: 130, said: 'agentproto: The run was interrupted.\n' }
    expect({ code, said }).toEqual(running.child.signalCode === 'SIGINT' ? { code: null, said: '' } : ours)
  },
)

test('--instructions precede the prompt, as given or from a file', async () => {
  expect(await run('hello', '--instructions', 'Be brief.')).toMatchObject({ stdout: 'echo: Be brief.\nhello\n' })
  const cwd = folder('work')
  writeFileSync(join(cwd, 'brief.md'), 'Be briefer.\n')
  expect(await run('hello', '--instructions', `@${join(cwd, 'brief.md')}`)).toMatchObject({
    stdout: 'echo: Be briefer.\nhello\n',
  })
  expect(await run('hello', '--instructions', '@none.md')).toMatchObject({
    stdout: '',
    stderr: expect.stringContaining('cannot be read'),
  })
})

test('14.4.3 a run that reaches its budget or its loop limit fails with that reason', async () => {
  const overspent = await run('usage 9 100; hang', '--budget-cost', '5')
  expect(overspent).toMatchObject({ code: 1 })
  expect(overspent.stderr).toContain('The budget of the run is used up. Allow more with --budget-cost')
  const looping = await run('loop 20; hang', '--loop-stop', '5')
  expect(looping).toMatchObject({ code: 1 })
  expect(looping.stderr).toContain('The agent repeated the same call with the same result.')
})
