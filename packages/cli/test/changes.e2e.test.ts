import { execFileSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { cli, type Ended, folder, serve, start, withoutKeeper } from './cli-process.js'
import { terminal } from './terminal.js'

interface Work {
  readonly home: string
  readonly work: string
  readonly run: (...args: string[]) => Promise<Ended>
  /** One turn; resolves when the folder was recorded after it. */
  readonly turn: (prompt: string) => Promise<void>
}

/** A session of the demo agent, in a folder with two files. */
async function session(): Promise<Work> {
  const home = folder()
  const work = folder('work')
  writeFileSync(join(work, 'a.txt'), 'one\ntwo\n')
  writeFileSync(join(work, 'b.txt'), 'b\n')
  await serve(home)
  const run = (...args: string[]): Promise<Ended> => cli(args, { home })
  await run('sessions', 'start', 'demo', '--label', 'try', '--cwd', work)
  return { home, work, run, turn: (prompt) => turn(run, prompt) }
}

async function turn(run: Work['run'], prompt: string): Promise<void> {
  await run('sessions', 'prompt', 'try', prompt, '--wait')
  const { stdout } = await run('sessions', 'show', 'try', '--json')
  const { turnCount } = JSON.parse(stdout) as { turnCount: number }
  const recorded = async (): Promise<string> => (await run('sessions', 'events', 'try')).stdout
  // The start and each turn.
  await expect
    .poll(async () => (await recorded()).match(/ checkpoint /g)?.length, { timeout: 30_000 })
    .toBe(turnCount + 1)
}

test('13.7 diff shows what changed, for a pipe as a patch that git applies', needs('git'), async () => {
  const { work, run, turn: take } = await session()
  const before = folder('before')
  cpSync(work, before, { recursive: true })
  await take('write c.txt new')
  await take('run rm b.txt && printf "three\\n" >> a.txt')
  const patch = await run('sessions', 'diff', 'try')
  expect(patch).toMatchObject({ code: 0, stderr: '' })
  execFileSync('git', ['apply', '-'], { cwd: before, input: patch.stdout })
  expect(readdirSync(before)).toEqual(['a.txt', 'c.txt'])
  expect(readFileSync(join(before, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n')
  expect((await run('sessions', 'diff', 'try', '--name-only')).stdout).toBe('a.txt\nb.txt\nc.txt\n')
  expect((await run('sessions', 'diff', 'try', '--turn', '1', '--stat')).stdout).toBe('A  c.txt  +1 −0\n1 file +1 −0\n')
  expect((await run('sessions', 'diff', 'try', 'a.txt')).stdout).toContain('+three')
  expect((await run('sessions', 'diff', 'try', 'a.txt')).stdout).not.toContain('c.txt')
  expect(await run('sessions', 'diff', 'try', 'none.txt')).toMatchObject({ code: 0, stderr: 'Nothing was changed.\n' })
  expect((await run('sessions')).stdout).toMatch(/CHANGES.*\n.*\+2 −1/)
  expect((await run('sessions', 'show', 'try')).stdout).toContain('3 files +2 −1')
})

test('13.7 several paths are one patch, in which a file that two of them name is once', needs('git'), async () => {
  const { run, turn: take } = await session()
  await take('write c.txt new; run rm b.txt')
  const { stdout } = await run('sessions', 'diff', 'try', 'c.txt', 'b.txt', 'c.txt')
  expect(stdout.match(/^diff --git .*$/gm)).toEqual(['diff --git a/b.txt b/b.txt', 'diff --git a/c.txt b/c.txt'])
  // More than a URL has room for.
  const many = Array.from({ length: 300 }, (_, index) => `none-${index}/${'x'.repeat(40)}`)
  expect((await run('sessions', 'diff', 'try', 'c.txt', ...many)).stdout.match(/^diff --git .*$/gm)).toEqual([
    'diff --git a/c.txt b/c.txt',
  ])
})

test('13.7 a review is where the next diff begins, and a rewind goes back and forth', needs('git'), async () => {
  const { work, run, turn: take } = await session()
  await take('write c.txt new')
  expect(await run('sessions', 'review', 'try')).toMatchObject({
    code: 0,
    stderr: 'Reviewed: the files as they are now.\n',
  })
  await take('write d.txt newer')
  expect((await run('sessions', 'diff', 'try', '--since-review', '--name-only')).stdout).toBe('d.txt\n')
  const dry = await run('sessions', 'rewind', 'try', '--turn', '1', '--dry-run')
  expect(dry).toMatchObject({ code: 0, stdout: 'D  d.txt\n', stderr: '1 file would be changed.\n' })
  expect(readdirSync(work)).toContain('d.txt')
  const back = await run('sessions', 'rewind', 'try', '--turn', '1')
  expect(back).toMatchObject({ code: 0, stdout: 'D  d.txt\n' })
  expect(readdirSync(work)).toEqual(['a.txt', 'b.txt', 'c.txt'])
  const [, checkpoint = ''] = /--checkpoint (\S+)/.exec(back.stderr) ?? []
  expect(await run('sessions', 'rewind', 'try', '--checkpoint', checkpoint)).toMatchObject({ stdout: 'A  d.txt\n' })
  expect(readdirSync(work)).toContain('d.txt')
  expect(await run('sessions', 'rewind', 'try')).toMatchObject({ code: 2, stdout: '' })
  expect(await run('sessions', 'rewind', 'try', '--turn', '9')).toMatchObject({ code: 4 })
  expect((await run('doctor')).stdout).toMatch(/checkpoints +[1-9]\d*(?:\.\d)? (?:bytes|KiB) for 1 folder$/m)
})

test(
  '13.7 in a terminal the patch goes through the pager of the person, coloured and harmless',
  needs('git', 'tmux'),
  async () => {
    const { home, work, turn: take } = await session()
    writeFileSync(join(home, 'evil'), '\u001B]0;owned\u0007evil\n')
    await take(`run cp ${join(home, 'evil')} c.txt`)
    const pager = join(home, 'pager.mjs')
    writeFileSync(
      pager,
      `import { readFileSync, writeFileSync } from 'node:fs'
const text = readFileSync(0, 'utf8')
writeFileSync(${JSON.stringify(join(home, 'paged'))}, JSON.stringify([process.argv.slice(2), text]))
process.stdout.write('paged ' + text.length + '\\n')`,
    )
    const screen = terminal(['sessions', 'diff', 'try'], home, {
      env: {
        PAGER: `${process.execPath} ${pager} -a $HOME;touch ${join(work, 'pwned')}`,
        NO_COLOR: '',
        FORCE_COLOR: '1',
      },
    })
    await screen.shows(/paged \d+[^]*exit code 0/)
    const [args, text] = JSON.parse(readFileSync(join(home, 'paged'), 'utf8')) as [string[], string]
    // No shell has read it.
    expect(args).toEqual(['-a', '$HOME;touch', join(work, 'pwned')])
    expect(readdirSync(work)).not.toContain('pwned')
    expect(text).toContain('\u001B[32m+\\u001b]0;owned\\u0007evil\u001B[39m')
    const plain = terminal(['sessions', 'diff', 'try'], home, { env: { PAGER: '/no/such/pager' } })
    await plain.shows(/\+\\u001b\]0;owned[^]*exit code 0/)
  },
)

test(
  '13.1 a gateway that is killed while it records: the next one says so, and what was recorded is whole',
  needs('git'),
  async () => {
    const home = withoutKeeper(folder())
    const work = folder('work')
    // So many files that a checkpoint takes a while.
    execFileSync('sh', ['-c', 'for i in $(seq 1 4000); do echo $i > f$i; done'], { cwd: work })
    const serving = start(['serve', '--port', '0'], { home })
    await serving.line(/http/)
    const run = (...args: string[]): Promise<Ended> => cli(args, { home })
    await run('sessions', 'start', 'demo', '--label', 'try', '--cwd', work)
    await turn(run, 'write g.txt first')
    const script = join(home, 'change.sh')
    writeFileSync(script, 'for i in $(seq 1 4000); do echo changed $i > f$i; done\n')
    await run('sessions', 'prompt', 'try', `run sh ${script}`, '--wait')
    expect(readFileSync(join(work, 'f17'), 'utf8')).toBe('changed 17\n')
    serving.child.kill('SIGKILL')
    await serving.ended
    await serve(home)
    const { stdout } = await run('sessions', 'events', 'try', '--json')
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; turn?: number; reason?: string })
    const outcomes = events.filter(({ type, turn: number }) => type.startsWith('checkpoint') && number === 2)
    expect(outcomes).toMatchObject([{ type: expect.stringMatching(/^checkpoint/) }])
    expect((await run('sessions', 'diff', 'try', '--turn', '1', '--name-only')).stdout).toBe('g.txt\n')
    expect((await run('sessions', 'rewind', 'try', '--turn', '1')).code).toBe(0)
    expect(readFileSync(join(work, 'f17'), 'utf8')).toBe('17\n')
  },
)
