import { expect, test } from 'vitest'
import { shown } from '../web/parts/shown-text.js'

test.each([
  ['a mark that turns text around', 'a\u202Eb', 'a⟨U+202E⟩b'],
  ['a blank of no width', 'rm\u200B -rf', 'rm⟨U+200B⟩ -rf'],
  ['a letter that is not drawn', 'a\u3164b', 'a⟨U+3164⟩b'],
  ['text in tags', 'a\u{E0041}', 'a⟨U+E0041⟩'],
  ['an escape sequence', '\u001B[31mred', '⟨U+001B⟩[31mred'],
  ['a line end that terminals go back at', 'good\rbad', 'good⟨U+000D⟩bad'],
  ['another line end', 'a\u2028b', 'a⟨U+2028⟩b'],
  ['half a character', 'a\uD800', 'a⟨U+D800⟩'],
  ['a joiner between letters', 'a\u200Db', 'a⟨U+200D⟩b'],
  ['many marks on one letter', `a${'\u0301'.repeat(5)}`, `a${'\u0301'.repeat(4)}⟨U+0301⟩`],
])('15.2 %s is shown by its number', (_name, text, expected) => {
  expect(shown(text)).toBe(expected)
})

test.each([
  ['a family', '👨‍👩‍👧‍👦'],
  ['a heart', '❤️'],
  ['a key cap', '1️⃣'],
  ['Arabic', 'مرحبا بالعالم'],
  ['Chinese', '你好，世界'],
  ['Hindi', 'नमस्ते दुनिया'],
  ['lines and tabs', 'a\n\tb'],
])('15.7 %s stays as it is', (_name, text) => {
  expect(shown(text)).toBe(text)
})
