import { parseLine } from '@agentproto/arm-kit'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { MessageLines } from '../src/message-lines.ts'

const before = '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s"'
const update = (content: string, more = ''): string =>
  `${before},"update":{"sessionUpdate":"agent_message_chunk","content":${content}${more}}}}`
const said = (text: string): string => update(`{"type":"text","text":${JSON.stringify(text)}}`)

const HOSTILE = [
  '',
  'a',
  '"',
  '\\',
  '","text":"',
  '"}}}}',
  '\ud800',
  '\u2028',
  '\0\n',
  'text',
  's',
  'agent_message_chunk',
  '2.0',
]
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.constantFrom(...HOSTILE)).map((parts) => parts.join('')),
)
/** Members as JSON, so that names come twice, strings are escaped otherwise, and a line may be broken. */
const member = fc.oneof(
  text.map((of) => `"text":${JSON.stringify(of)}`),
  fc.constantFrom(
    '"type":"text"',
    '"type":"image"',
    '"text":"\\u0061"',
    '"text":null',
    '"text" : "b"',
    '"__proto__":"x"',
  ),
  fc.constantFrom('"text":{"text":"a"}', '"_meta":{"text":"a"}', '"text":"a', '"text":"a","text":"b"'),
)
const content = fc.array(member, { maxLength: 4 }).map((members) => `{${members.join(',')}}`)
const more = fc.constantFrom(
  '',
  '',
  ',"messageId":"m"',
  ',"content":{"type":"text","text":"a"}',
  ',"_meta":{"n":1}',
  ' ',
)
const line = fc.oneof(
  { weight: 3, arbitrary: text.map(said) },
  { weight: 2, arbitrary: fc.tuple(content, more).map(([of, rest]) => update(of, rest)) },
  fc.constantFrom('', 'null', '"a"', '[]', '{}', '{"id":1,"result":{}}', 'warning: x', before, `${said('a')} `),
)

test('a line means what it means to the general parser, whatever came before it', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
      const parser = new MessageLines()
      expect(lines.map((each) => parser.parse(each))).toEqual(lines.map(parseLine))
    }),
    { numRuns: 3_000 },
  )
})

test('messages share no object', () => {
  const parser = new MessageLines()
  const [one, two, three] = ['a', 'b', 'b'].map((each) => parser.parse(said(each)) as { params: { update: object } })
  expect(two).toEqual(three)
  expect(new Set([one, two, three]).size).toBe(3)
  expect(new Set([one, two, three].map((each) => each?.params)).size).toBe(3)
  expect(new Set([one, two, three].map((each) => each?.params.update)).size).toBe(3)
})

/** Characters that are given to the parser of JSON. */
function parsedBy(lines: readonly string[]): number {
  const parser = new MessageLines()
  const parse = vi.spyOn(JSON, 'parse')
  for (const each of lines) parser.parse(each)
  const chars = parse.mock.calls.reduce((sum, [json]) => sum + json.length, 0)
  parse.mockRestore()
  return chars
}

const numbers = Array.from({ length: 1_000 }, (_, at) => at)
const charsOf = (lines: readonly string[]): number => lines.reduce((sum, { length }) => sum + length, 0)

test('of a line that differs in its text, only the text is parsed', () => {
  const lines = numbers.map((at) => said(`line ${at}`))
  expect(parsedBy(lines) / charsOf(lines)).toBeLessThan(0.1)
})

test('an agent whose lines differ in more than their text costs a few lines more, not each line twice', () => {
  const lines = numbers.map((at) => update(`{"type":"text","text":"line"}`, `,"messageId":"${at}"`))
  expect(parsedBy(lines) / charsOf(lines)).toBeLessThan(1.1)
})

test('a new message of the agent is learned, each time', () => {
  const lines = numbers.map((at) =>
    update(`{"type":"text","text":"line ${at}"}`, `,"messageId":"${Math.floor(at / 20)}"`),
  )
  expect(parsedBy(lines) / charsOf(lines)).toBeLessThan(0.3)
})
