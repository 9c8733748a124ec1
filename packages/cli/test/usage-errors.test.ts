import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { codeRows } from '../../../tooling/markdown.ts'
import { ROOT } from '../../../tooling/packages.ts'
import { commandLine } from '../src/usage-errors/command-line.js'
import { nearest } from '../src/usage-errors/nearest.js'
import { OTHER_WORDS } from '../src/usage-errors/other-words.js'
import { folder } from './cli-process.js'
import { runHere } from './run-here.js'

/** A command line as it is typed, with double quotes. */
const words = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '')

const failureOf = async (line: string) => runHere(words(line), { home: folder() })

test.each([
  ['sesions start demo', 'sessions start demo'],
  ['sesions strat demo --labl x', 'sessions start demo --label x'],
  ['sessions strat demo --label x', 'sessions start demo --label x'],
  ['sessions try show', 'sessions show try'],
  ['try show', 'sessions show try'],
  ['demo run hello', 'run demo hello'],
  ['list sessions', 'sessions list'],
  ['list adapters', 'adapters list'],
  ['kill session try', 'sessions kill try'],
  ['trust shop', 'workspace trust shop'],
  ['config ste durability full', 'config set durability full'],
  ['sessions strat', 'sessions start --help'],
  ['sessions help strat', 'sessions start --help'],
])('14.3.2 an unknown command, %s, is answered by %s', async (given, meant) => {
  const { code, stdout, stderr } = await failureOf(given)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^agentproto: There is no command agentproto /)
  expect(stderr).toContain(`Did you mean: agentproto ${meant}?\n`)
})

test.each([
  ['run demo --prmpt hello', 'run demo --prompt hello'],
  ['run demo "--prmpt=a b"', 'run demo "--prompt=a b"'],
  ['sessions start demo -label x', 'sessions start demo --label x'],
  ['sessions start demo --name x', 'sessions start demo --label x'],
  ['sessions --jsn', 'sessions --json'],
  ['--json sessions', 'sessions --json'],
  ['run demo hello --permissions aprove-all', 'run demo hello --permissions approve-all'],
  ['run demo fix the bug', 'run demo "fix the bug"'],
  ['sessions prompt try fix "the bug" --wait', 'sessions prompt try "fix the bug" --wait'],
  ['sessions start demo fix it', 'sessions start demo --prompt "fix it"'],
  ['stop try', 'sessions kill try'],
  ['status try', 'sessions show try'],
  ['logs try -n 5', 'sessions logs try -n 5'],
  ['adapters list opencode', 'adapters show opencode'],
  ['chat', 'sessions start demo --attach'],
  ['approve try', 'sessions answer try --allow'],
  ['up', 'serve --detach'],
  ['claude', 'sessions start claude-code --attach'],
  ['claude fix it', 'run claude-code "fix it"'],
  ['codex hello', 'run codex hello'],
])('14.3.2 %s is answered by %s', async (given, meant) => {
  const { code, stdout, stderr } = await failureOf(given)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(JSON.stringify(stderr)).toContain(JSON.stringify(`agentproto ${meant}?`).slice(1, -1))
})

test('14.3.2 a word with two meanings is answered by both, and ends nothing', async () => {
  const { code, stderr } = await failureOf('sessions stop try')
  expect(code).toBe(2)
  expect(stderr).toContain('agentproto sessions interrupt try, or agentproto sessions kill try?')
})

test.each([
  ['sessions show', /needs <id>\. See them with: agentproto sessions\.$/m],
  ['run', /needs <adapter>\. See them with: agentproto adapters list\.$/m],
  ['workspace use', /needs <slug>\. See them with: agentproto workspace list\.$/m],
  ['config get', /needs <key>\. See them with: agentproto config list\.$/m],
  ['frobnicate', /: agentproto --help\.$/m],
  ['frobnicate --help', /: agentproto --help\.$/m],
  ['help frobnicate', /: agentproto --help\.$/m],
  ['sessions xyzzy', /: agentproto sessions --help\.$/m],
  ['sessions answer try --allow --deny', /: agentproto sessions answer --help\.$/m],
  ['run demo hello --timeout soon', /: agentproto run --help\.$/m],
])('14.3.2 where nothing is near, %s names what there is', async (given, step) => {
  const { code, stderr } = await failureOf(given)
  expect(code).toBe(2)
  expect(stderr).toMatch(step)
})

test('14.3.2 with --json a wrong command line is a problem document too', async () => {
  const { code, stderr } = await failureOf('sessions strat demo --json')
  expect(code).toBe(2)
  expect(JSON.parse(stderr)).toMatchObject({
    code: 'invalid_request',
    hint: 'Did you mean: agentproto sessions start demo --json?',
  })
})

test('14.3.2 what cannot be repeated on one line is not: control characters, and long texts', async () => {
  const escape = await failureOf('sessions strat "\u001B]0;title\u0007"')
  expect(escape.stderr).not.toContain('\u001B')
  expect(escape.stderr).toContain('agentproto sessions --help')
  expect((await failureOf(`sessions strat ${'x'.repeat(400)}`)).stderr.length).toBeLessThan(200)
  expect((await failureOf('run demo "two\nlines" more')).stderr).toContain('agentproto run --help')
})

test.each([
  'secrets set acme/key hunter2',
  'secrets set acme/key hunter2 --strore file',
  'secrets ste acme/key hunter2',
])('14.3.2 a secret on the command line is not repeated: %s', async (line) => {
  const { code, stderr } = await failureOf(line)
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.not.stringContaining('hunter2') as string })
})

test('14.3.2 a suggestion can be pasted into a shell', () => {
  expect(commandLine(['prompt', 'a b', '$HOME', "it's", '$(rm x)', 'äö', ''])).toBe(
    `agentproto prompt "a b" '$HOME' "it's" '$(rm x)' äö ""`,
  )
  expect(commandLine([`it's $5`])).toBe(`agentproto 'it'\\''s $5'`)
})

test('14.3.2 the nearest name has few other letters, or its own in another order; other words have none', () => {
  const names = ['start', 'status', 'stop', 'sessions', 'set']
  expect(['strat', 'ste', 'sesions', 'stopp', 'sess'].map((word) => nearest(word, names))).toEqual([
    'start',
    'set',
    'sessions',
    'stop',
    'sessions',
  ])
  expect(['frobnicate', 'x', ''].map((word) => nearest(word, names))).toEqual([undefined, undefined, undefined])
})

test.each([
  [['help', 'sessions', 'start'], /^Usage: agentproto sessions start /],
  [['sessions', 'help', 'start'], /^Usage: agentproto sessions start /],
  [['help', 'workspace', 'add'], /^Usage: agentproto workspace add /],
  [['help', 'attach'], /^Usage: agentproto sessions /],
  [['attach', '--help'], /^Usage: agentproto sessions /],
  [['prompt', '--help'], /^Usage: agentproto sessions prompt /],
  [['help'], /^Usage: agentproto /],
  [['version'], /^\d+\.\d+\.\d+/],
] as const)('14.3.2 %j shows its help or the version', async (args, shown) => {
  const { code, stdout, stderr } = await runHere(args, { home: folder() })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(shown)
})

test('14.3.2 docs/cli.md lists every word of other tools that works', () => {
  const text = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8').split('## Other words')[1]?.split('\n## ')[0] ?? ''
  const rows = Object.entries(OTHER_WORDS).flatMap(([group, entries]) =>
    Object.entries(entries).map(([word, stands]) => [
      [group, word].filter(Boolean).join(' '),
      [group, ...stands].filter(Boolean).join(' '),
    ]),
  )
  expect(codeRows(text)).toEqual(rows)
})
