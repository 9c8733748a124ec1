import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readPlainYaml } from '../src/plain-yaml.js'
import { createProblemList } from '../src/problem.js'
import { createSourceText } from '../src/source-text.js'
import { parseAnyYaml } from '../src/parse-yaml.js'
import type { YamlTree } from '../src/yaml-tree.js'
import { SAMPLE } from './sample.js'

// What is read without the YAML library must be what the library reads: value, places, and nothing to complain of.

const BASE = 4
const frontOf = (text: string): string => text.slice(BASE, text.indexOf('\n---', BASE) + 1)

function byLibrary(yaml: string): { readonly tree: YamlTree | undefined; readonly told: readonly string[] } {
  const problems = createProblemList(createSourceText(`---\n${yaml}`, 'x'))
  const tree = parseAnyYaml({ yaml, offset: BASE, body: '' }, problems)
  return { tree, told: problems.sorted().map(({ code, message }) => `${code}: ${message}`) }
}

/** Whether it was read at all. */
function agrees(yaml: string): boolean {
  const plain = readPlainYaml(yaml, BASE)
  if (plain?.entries === undefined) return false
  const { tree, told } = byLibrary(yaml)
  expect({ yaml, told, tree: plain }).toEqual({ yaml, told: [], tree })
  return true
}

const catalog = join(import.meta.dirname, '..', '..', 'adapters', 'catalog')
const shipped = readdirSync(catalog, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ name, yaml: frontOf(readFileSync(join(catalog, name), 'utf8')) }))
const sample = frontOf(SAMPLE)

test('nearly every manifest that ships is plain, and so is the sample', () => {
  expect(shipped.length).toBeGreaterThan(40)
  const others = shipped.filter(({ yaml }) => !agrees(yaml)).map(({ name }) => name)
  expect(others.length, others.join()).toBeLessThan(shipped.length / 20)
  expect(agrees(sample)).toBe(true)
})

test.each([
  ['texts', 'a: b c\nd: --m\nn: 064ee1ff\ne: http://x.y/z?a=b#c\nf: a#b\ng: 1.2.3\nh: v1\ni: ~/x\n'],
  ['numbers and truth', 'a: 1\nb: 0\nc: -7\nd: true\ne: false\nf: 1.5\ng: 123456789012345\n'],
  ['quotes', `a: 'it''s'\nb: "x \\"y\\" \\\\ \\n \\t"\nc: ''\nd: ""\ne: 'a: b # c'   # so\n`],
  ['brackets', 'a: [b, "c", [d], {e: f}]\ng: {h: 1, i: [j]}\nk: []\nl: {}\nm: [ a , b ]\n'],
  ['lists of mappings', 'a:\n  - b: 1\n    c: 2\n  -   d: 3\n      e:\n        - f\ng: h\n'],
  ['a list in the column of its key', 'a:\n- b\n- c\nd: e\n'],
  ['texts over lines', 'a: >-\n  b\n  c\nd: |\n  e # f\n  g: h\ni: |-\n    j\nk: l\n'],
  ['comments', '# a\nb: c # d\n\n  # e\nf: # g\n  # h\n  i: j\n# k'],
  ['a text without an end of line', 'a: b'],
])('plain: %s', (_, yaml) => {
  expect(agrees(yaml)).toBe(true)
})

test.each([
  ['an empty value', 'a:\nb: c\n'],
  ['a key twice', 'a: b\na: c\n'],
  ['a key that poisons', '__proto__: a\n'],
  ['an anchor', 'a: &b c\n'],
  ['an alias', 'a: *b\n'],
  ['a tag', 'a: !b c\n'],
  ['a text that goes on', 'a: b\n  c\n'],
  ['a mapping in a line', 'a: b: c\n'],
  ['brackets over lines', 'a: [b,\n  c]\n'],
  ['an item in wait', 'a: [b, ]\n'],
  ['a tab', 'a: b\tc\n'],
  ['a carriage return', 'a: b\r\nc: d\r\n'],
  ['a wrong indent', 'a:\n  b: c\n d: e\n'],
  ['a second document', 'a: b\n---\nc: d\n'],
  ['a word of YAML’s own', 'a: Null\n'],
  ['numbers of other kinds', 'a: 0x1F\n'],
  ['a list at the top', '- a\n'],
  ['something behind quotes', 'a: "b" c\n'],
  ['odd blanks', 'a: b\u00a0c\n'],
])('left to the library: %s', (_, yaml) => {
  const plain = readPlainYaml(yaml, BASE)
  expect(plain?.entries).toBeUndefined()
})

const texts = [...shipped.map(({ yaml }) => yaml), sample]
const scraps = `" ' [ ] { } : : # - -x ? &a *a ! | > >- , % @ ~ null 0x1 1e3 .5 +1 \\ --- ... <<: é \u2028 _1`.split(
  ' ',
)
const scrap = fc.constantFrom(...scraps, ' ', '  ', ': ', ' #', '- ', '>-\n', '\n', '\n\n')
const edit = fc.record({ at: fc.nat(), cut: fc.integer({ min: 0, max: 6 }), put: fc.array(scrap, { maxLength: 3 }) })

test('whatever is changed in a manifest, it is read as the library reads it', { timeout: 60_000 }, () => {
  let plain = 0
  fc.assert(
    fc.property(fc.nat(texts.length - 1), fc.array(edit, { minLength: 1, maxLength: 3 }), (index, edits) => {
      const whole = texts[index] ?? ''
      // Some lines of it, so that edits meet one another.
      const begin = whole.lastIndexOf('\n', (edits[0]?.at ?? 0) % whole.length) + 1
      const indent = /^ */.exec(whole.slice(begin))?.[0].length ?? 0
      let yaml = whole
        .slice(begin)
        .split('\n')
        .slice(0, 12)
        .map((line) => line.slice(Math.min(indent, line.search(/\S|$/))))
        .join('\n')
      for (const { at, cut, put } of edits) {
        const place = at % (yaml.length + 1)
        yaml = yaml.slice(0, place) + put.join('') + yaml.slice(place + cut)
      }
      if (agrees(yaml)) plain++
    }),
    { numRuns: 3_000 },
  )
  // Else nothing was compared.
  expect(plain).toBeGreaterThan(150)
})

const word = fc.constantFrom(
  'a',
  'b-c',
  'true',
  '12',
  '-x',
  '1.0',
  '"q: r"',
  "'s # t'",
  '[u, v]',
  '{w: x}',
  'y z',
  '>-\n   f\n   g',
)
const line = fc.record({
  indent: fc.constantFrom('', '', '  ', '  ', '    ', ' '),
  lead: fc.constantFrom('', '', '- ', '-  ', '# '),
  key: fc.constantFrom('', 'k: ', 'l: ', 'm: ', 'n:'),
  value: fc.oneof({ weight: 3, arbitrary: word }, fc.constantFrom('', ' # c')),
})

test('whatever lines are put together, too', { timeout: 60_000 }, () => {
  let plain = 0
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 7 }), (lines) => {
      const yaml = lines.map(({ indent, lead, key, value }) => `${indent}${lead}${key}${value}\n`).join('')
      if (agrees(yaml)) plain++
    }),
    { numRuns: 6_000 },
  )
  expect(plain).toBeGreaterThan(50)
})
