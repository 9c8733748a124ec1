import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createProgram } from '../../packages/cli/src/program.ts'
import { OTHER_WORDS } from '../../packages/cli/src/usage-errors/other-words.ts'
import { pages } from '../markdown.ts'
import { namedCommands, problemOf } from '../named-commands.ts'
import { ROOT } from '../packages.ts'
import { sourceFiles, withoutComments } from '../source-files.ts'

// A message, a page and a help text must not name a command or an option that does not exist.

const context = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough(), env: {}, cwd: '/' }
const program = await createProgram(context, () => () => Promise.resolve())
/** Words that stand for commands, and those of `sessions`, whose name may be left out. */
const others = new Set([
  ...Object.keys(OTHER_WORDS[''] ?? {}),
  ...(program.commands.find((command) => command.name() === 'sessions')?.commands ?? []).map((each) => each.name()),
])

/** What a text names that does not exist, each with its place. @param marks What precedes a command, and no sentence */
function problemsIn(path: string, text: string, marks: RegExp): readonly string[] {
  return namedCommands(text).flatMap((named) => {
    const [first = ''] = named.words
    const isCommand = marks.test(named.before)
    const isKnown = program.commands.some((command) => command.name() === first)
    if ((!isKnown && others.has(first)) || (!isKnown && !isCommand)) return []
    const problem = problemOf(program, named, isCommand && marks === IN_CODE)
    return problem === undefined ? [] : [`${path}:${named.line} ${problem}`]
  })
}

const IN_CODE = /[:`$|&(]/
const IN_PAGES = /[`$|&(]/

test('14.3.3 every command that the code names exists, with its options and arguments', () => {
  const files = sourceFiles(ROOT, 'packages').filter(({ path }) => /\/src\//.test(path))
  expect(files.length).toBeGreaterThan(300)
  expect(files.flatMap(({ path, text }) => problemsIn(path, withoutComments(text), IN_CODE))).toEqual([])
})

test('14.3.3 every command that a page names exists, with its options', () => {
  const own = pages(ROOT).filter(({ path }) => !/CHANGELOG/.test(path))
  expect(own.flatMap(({ path, text }) => problemsIn(path, withoutInspector(text), IN_PAGES))).toEqual([])
})

/** Its options follow those of the command that it runs. */
const withoutInspector = (text: string): string => text.replace(/^npx @modelcontextprotocol.*$/gm, '')

test('14.3.3 every option that a hint names is one of a command', () => {
  const known = new Set<string>(['--help', '--no-start', '--version'])
  const collect = (command: typeof program): void => {
    for (const { long } of command.options) if (long !== undefined) known.add(long)
    command.commands.forEach(collect)
  }
  collect(program)
  const files = sourceFiles(ROOT, 'packages').filter(({ path }) => /\/src\//.test(path))
  const unknown = files.flatMap(({ path, text }) =>
    [...withoutComments(text).matchAll(/\b(?:hint|expected):.*$/gm)].flatMap(([line]) =>
      [...line.matchAll(/(?<![\w-])--[a-z][a-z0-9-]+/g)].flatMap(([option]) =>
        known.has(option) ? [] : [`${path} ${option}`],
      ),
    ),
  )
  expect(unknown).toEqual([])
})

test.each([
  ["hint: 'Kill it with: agentproto sessions kil try',", 'agentproto sessions has no command kil'],
  ["hint: 'Kill it with: agentproto sessions kill',", 'agentproto sessions kill needs id'],
  [
    'hint: `Try again with: agentproto sessions resume ${ref} --frehs`,',
    'agentproto sessions resume has no option --frehs',
  ],
  ["hint: 'Use it (agentproto stauts), or stop it',", 'agentproto has no command stauts'],
])('14.3.3 %s is found', (line, problem) => {
  expect(problemsIn('x.ts', line, IN_CODE)).toEqual([`x.ts:1 ${problem}`])
})
