import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TerminalText } from '../src/terminal-text.ts'

const shown = (...chunks: readonly string[]) => {
  const text = new TerminalText()
  const lines = chunks.flatMap((chunk) => text.feed(chunk))
  return [...lines, text.line]
}

test.each([
  ['colours', '\u001B[33m2\u001B[39m\r\n', ['2\n', '']],
  ['a title', '\u001B]0;title\u0007x\r\n', ['x\n', '']],
  ['bracketed paste', '\u001B[?2004h$ ', ['$ ']],
  ['a redrawn prompt', '\u001B[1G\u001B[0J> \u001B[3G', ['> ']],
  ['a progress bar', '10%\r50%\r100%\r\ndone\r\n', ['100%\n', 'done\n', '']],
  ['a line that is erased', 'Thinking…\u001B[2K\rready', ['ready']],
  ['a correction', 'abd\bc', ['abc']],
  ['carriage returns before a newline', 'a\r\r\nb', ['a\n', 'b']],
  ['a bell, and two-letter sequences', 'a\u0007\u001B7b\u001B(Bc', ['abc']],
])('%s: what is shown is what is read', (_, data, lines) => {
  expect(shown(data)).toEqual(lines)
})

test('a sequence that arrives in pieces is one sequence', () => {
  const data = 'a\u001B[38;5;12mb\u001B]8;;http://x\u001B\\c\u001B[0m\r\n> '
  for (let at = 0; at <= data.length; at++) expect(shown(data.slice(0, at), data.slice(at))).toEqual(['abc\n', '> '])
})

test('any input gives text without escape characters', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string({
          unit: fc.constantFrom('a', '\u001B', '[', ']', '0', ';', 'm', 'K', 'G', '\r', '\n', '\b', '\u0007', 'ü'),
        }),
      ),
      (chunks) => {
        expect(shown(...chunks).join('')).not.toMatch(/[\u0000-\u0008\u000B-\u001F]/)
      },
    ),
  )
})

test('a line without an end is returned in pieces', () => {
  const lines = shown('x'.repeat(200_000))
  expect(lines.join('')).toHaveLength(200_000)
})
