import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseAcp, parseAgentCli, parseConfig, parseRunner, parseSandbox, parseSecrets } from '@agentproto/manifest'
import type { ManifestProblem } from '@agentproto/manifest'
import { SAMPLE } from './sample.js'

const path = 'sample/AGENT-CLI.md'
const wrap = (yaml: string): string => `---\n${yaml}\n---\n`
const problemsOf = (text: string): readonly ManifestProblem[] => {
  const result = parseAgentCli(text, { path })
  return result.ok ? result.warnings : result.problems
}
const codesOf = (text: string): readonly string[] => problemsOf(text).map((problem) => problem.code)

const letters = 'abcdefghij'.split('')
const bomb = `a: &a [${'x,'.repeat(9)}x]\n${letters
  .slice(1)
  .map((name, index) => `${name}: &${name} [${Array(10).fill(`*${letters[index]}`).join(', ')}]`)
  .join('\n')}`
const K = 60_000

const corpus: readonly (readonly [name: string, text: string, code: string])[] = [
  ['an empty file', '', 'front_matter_missing'],
  ['no front matter', '# Sample', 'front_matter_missing'],
  ['four dashes', '----\nname: x\n----\n', 'front_matter_missing'],
  ['front matter that never ends', '---\nname: x\n', 'front_matter_unclosed'],
  ['only an opening line', '---', 'front_matter_unclosed'],
  ['a closing line of four dashes', '---\nname: x\n----\n', 'front_matter_unclosed'],
  ['a closing line with text', '---\nname: x\n--- and more\n---\n', 'front_matter_unclosed'],
  ['JavaScript', '---js\nglobalThis.agentprotoWasHere = true\n---\n', 'front_matter_language'],
  ['JavaScript after a space', '--- javascript\nglobalThis.agentprotoWasHere = true\n---\n', 'front_matter_language'],
  [
    'JavaScript behind a byte order mark',
    '\ufeff---js\nglobalThis.agentprotoWasHere = true\n---\n',
    'front_matter_language',
  ],
  ['JavaScript and CRLF', '---js\r\nglobalThis.agentprotoWasHere = true\r\n---\r\n', 'front_matter_language'],
  ['CoffeeScript', '---coffee\nglobalThis.agentprotoWasHere = true\n---\n', 'front_matter_language'],
  ['JSON', '---json\n{}\n---\n', 'front_matter_language'],
  ['TOML', '---toml\nname = "x"\n---\n', 'front_matter_language'],
  ['a language name of symbols', '---%\nname: x\n---\n', 'front_matter_missing'],
  ['a file of 2 MB', `---\nname: x\n---\n${'x'.repeat(2_000_000)}`, 'file_too_large'],
  [
    '1 MB of anchors',
    wrap(Array.from({ length: 60_000 }, (_, index) => `a${index}: &a${index} x`).join('\n')),
    'file_too_large',
  ],
  [
    '60 kB of anchors',
    wrap(Array.from({ length: 3_500 }, (_, index) => `a${index}: &a${index} x`).join('\n')),
    'too_many_problems',
  ],
  ['an alias bomb', wrap(bomb), 'yaml_too_large'],
  ['a merge key', wrap('x: &a {name: y}\n<<: *a'), 'key_forbidden'],
  ['an alias to itself', wrap('metadata: &a\n  b: *a'), 'yaml_alias'],
  ['an alias to nothing', wrap('metadata: *nothing'), 'yaml_alias'],
  ['NUL', wrap('name: a\0b'), 'control_character'],
  ['an escaped NUL', wrap('name: "a\\0b"'), 'control_character'],
  ['an escape sequence', wrap('name: "\u001b[31m"'), 'control_character'],
  ['a tab as indent', wrap('session:\n\tmode: ephemeral'), 'yaml_syntax'],
  ['a key twice', wrap('name: a\nname: b'), 'key_duplicate'],
  ['a key twice in braces', wrap('session: {mode: ephemeral, mode: persistent}'), 'key_duplicate'],
  ['__proto__', wrap('metadata: {__proto__: {polluted: true}}'), 'key_forbidden'],
  ['an escaped __proto__', wrap('metadata: {"__pr\\u006fto__": {polluted: true}}'), 'key_forbidden'],
  ['a function tag', wrap('name: !!js/function "() => 1"'), 'yaml_tag'],
  ['a tag of its own', wrap('name: !mine x'), 'yaml_tag'],
  ['a second document', wrap('name: x\n...\nname: y'), 'yaml_syntax'],
  ['a directive', wrap('%YAML 1.1\nname: yes'), 'yaml_syntax'],
  ['a list', wrap('- a'), 'type_mismatch'],
  ['a text', wrap('hello'), 'type_mismatch'],
  ['a mapping as a key', wrap('{a: b}: c'), 'yaml_syntax'],
  ['brackets nested deeply', wrap(`metadata: ${'['.repeat(K)}`), 'yaml_too_large'],
  ['brackets nested deeply and closed', wrap(`metadata: ${'['.repeat(K / 3)}${']'.repeat(K / 3)}`), 'yaml_too_large'],
  ['brackets nested deeply behind quotes', wrap(`metadata: ${'["]", '.repeat(K / 10)}`), 'yaml_too_large'],
  ['braces nested deeply', wrap(`metadata: ${'{a: '.repeat(K / 4)}`), 'yaml_too_large'],
  [
    'indents nested deeply',
    wrap(Array.from({ length: 300 }, (_, index) => `${' '.repeat(index)}a:`).join('\n')),
    'yaml_too_large',
  ],
  ['dashes nested deeply', wrap('- '.repeat(K / 2)), 'yaml_too_large'],
  ['question marks nested deeply', wrap('? '.repeat(K / 2)), 'yaml_too_large'],
  ['colons', wrap(': '.repeat(K / 2)), 'yaml_too_large'],
  ['quotes', wrap('"'.repeat(K)), 'yaml_syntax'],
  ['closing braces', wrap('}'.repeat(K)), 'yaml_syntax'],
  ['commas', wrap(`a: [${','.repeat(K)}]`), 'yaml_syntax'],
  ['percent signs', wrap('%'.repeat(K)), 'yaml_syntax'],
  ['very many keys', wrap(Array.from({ length: 7_000 }, (_, index) => `k${index}:`).join('\n')), 'too_many_problems'],
  ['very many items', wrap(`tags: [${'a,'.repeat(K / 2)}]`), 'yaml_too_large'],
  ['a name of 60 kB', wrap(`name: ${'x'.repeat(K)}`), 'value_too_long'],
  [
    'a range that takes long',
    wrap(`version_check: {cmd: x, parse: (x), range: "${' '.repeat(K)}x"}`),
    'value_too_long',
  ],
  [
    'an expression that kills V8',
    wrap(`version_check: {cmd: x, range: x, parse: "${'('.repeat(400)}a${')'.repeat(400)}"}`),
    'regex_invalid',
  ],
]

test.each(corpus)('%s is a problem, reported within the time limit', (_, text, code) => {
  const began = process.cpuUsage()
  expect(codesOf(text)).toContain(code)
  const { user, system } = process.cpuUsage(began)
  expect((user + system) / 1000).toBeLessThan(5_000)
  expect({}).not.toHaveProperty('polluted')
  expect(globalThis).not.toHaveProperty('agentprotoWasHere')
})

test('a byte order mark is a warning, and positions still hold', () => {
  const result = parseAgentCli(`\ufeff${SAMPLE}`, { path })
  expect(result).toMatchObject({ ok: true, warnings: [{ code: 'byte_order_mark', line: 1 }] })
})

test('a file that was checked before is checked again in full', () => {
  const text = '---\nname: [\n---\n'
  expect(codesOf(text)).toEqual(codesOf(text))
  expect(codesOf(text)).toContain('yaml_syntax')
})

test('a merge key is refused where any key is allowed', () => {
  const result = parseRunner(wrap('a: &a {b: 1}\n<<: *a'), { path })
  expect(result).toMatchObject({ ok: false, problems: [{ code: 'key_forbidden', line: 3, column: 1 }] })
})

test('a closing line that holds more is reported at its place', () => {
  expect(problemsOf('---\nname: x\n----\n')).toMatchObject([{ line: 3, column: 1, excerpt: '----' }])
})

test('blanks after the dashes are allowed, and positions still hold', () => {
  const text = SAMPLE.replace('---\n', '---  \n').replace('\n---\n', '\n--- \n')
  expect(parseAgentCli(text, { path })).toMatchObject({ ok: true, warnings: [] })
  expect(problemsOf(text.replace('mode: resumable', 'mode: resumabel'))).toMatchObject([{ line: 57, column: 9 }])
})

test('carriage returns are allowed, and positions still hold', () => {
  const text = SAMPLE.replaceAll('\n', '\r\n')
  expect(parseAgentCli(text, { path })).toMatchObject({ ok: true, warnings: [] })
  expect(problemsOf(text.replace('mode: resumable', 'mode: resumabel'))).toMatchObject([
    { line: 57, column: 9, excerpt: '  mode: resumabel' },
  ])
})

test('an anchor and its alias are allowed', () => {
  const text = SAMPLE.replace('bin_args: [acp]', 'bin_args: &args [acp]').replace(
    'bin_args_append: ["--permission-mode", "plan"]',
    'bin_args_append: *args',
  )
  const result = parseAgentCli(text, { path })
  expect(result.ok && result.manifest.modes[1]?.binArgsAppend).toEqual(['acp'])
})

test('an excerpt contains no control character and is cut', () => {
  const [problem] = problemsOf(wrap(`name: ["\u009b", ${'x'.repeat(400)}`))
  expect(problem?.excerpt.length).toBeLessThanOrEqual(160)
  expect(problemsOf('---\nname: \u0007\n---\n')[0]?.excerpt).toBe('name: \ufffd')
})

test('a SECRETS.md with a value is refused, and the value is in no problem', () => {
  const text = wrap(
    'secrets:\n  - slug: key-a\n    name: A\n    description: d\n    value: hunter2\n    token: |\n      hunter2\n    backend: hunter2',
  )
  const result = parseSecrets(text, { path: 'SECRETS.md' })
  expect(result.ok ? [] : result.problems.map(({ code, line, excerpt }) => [code, line, excerpt])).toEqual([
    ['secret_in_manifest', 6, 'value: …'],
    ['secret_in_manifest', 7, 'token: …'],
    ['value_malformed', 9, 'backend: …'],
  ])
  expect(JSON.stringify(result)).not.toContain('hunter2')
  expect(JSON.stringify(parseSecrets(wrap('secrets:\n  - hunter2: "'), { path: 'SECRETS.md' }))).toContain(
    'yaml_syntax',
  )
})

test('a secret in an AGENT-CLI.md is not repeated', () => {
  expect(JSON.stringify(problemsOf(SAMPLE.replace('SAMPLE_TELEMETRY: "0"', 'SAMPLE_TOKEN: hunter2')))).not.toContain(
    'hunter2',
  )
})

const words = 'name modes options id type enum install sandbox setup ~ null 1.0 .inf [ ] { } , " # % &a *a …'.split(' ')
const marks = ['---', '---\n', '\n', '  ', '    ', '- ', ': ', '? ', "'", '|\n', '>-\n', '!!str ', '!x ', '\t', '\r\n']
const oddities = ['method: npm', 'protocol: acp', '\ufeff', '\u2028', '\ud800', '\u0000']
const fragments = fc.constantFrom(...words, ...marks, ...oddities)

test('any text gives a result with valid positions', () => {
  fc.assert(
    fc.property(fc.array(fragments, { maxLength: 60 }), (parts) => {
      expectValidPositions(wrap(parts.join('')))
    }),
    { numRuns: 300 },
  )
})

test('any change to a valid file gives a result with valid positions', { timeout: 60_000 }, () => {
  const edit = fc.record({ at: fc.nat(SAMPLE.length), cut: fc.nat(40), put: fc.oneof(fc.string(), fragments) })
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 5 }), (edits) => {
      expectValidPositions(
        edits.reduce((text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut), SAMPLE),
      )
    }),
    { numRuns: 150 },
  )
})

function expectValidPositions(text: string): void {
  const lines = text.split('\n')
  const isSound = ({ line, column, message }: ManifestProblem): boolean =>
    message.endsWith('.') &&
    line >= 1 &&
    line <= lines.length &&
    column >= 1 &&
    column <= (lines[line - 1] ?? '').length + 1
  for (const parse of [parseAgentCli, parseAcp, parseSecrets, parseSandbox, parseRunner, parseConfig]) {
    const result = parse(text, { path })
    const problems = result.ok ? result.warnings : result.problems
    expect(result.ok).toBe(problems.every((problem) => problem.severity === 'warning'))
    expect(problems.filter((problem) => !isSound(problem))).toEqual([])
  }
}
