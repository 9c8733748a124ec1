import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { fileLinks, page, pages, wideCells } from '../markdown.ts'
import type { Page } from '../markdown.ts'
import { ROOT } from '../packages.ts'

const WIDEST_CELL = 160
const all = pages(ROOT)

test('no cell of a table has more than 160 characters', () => {
  expect(all.flatMap((each) => wideCells(each, WIDEST_CELL))).toEqual([])
})

test('the README has less than 120 lines of at most 120 characters', () => {
  const lines = page(ROOT, 'README.md').trimEnd().split('\n')
  expect(lines.length).toBeLessThan(120)
  expect(lines.filter(({ length }) => length > 120)).toEqual([])
})

test('docs/README.md leads to every page of docs', () => {
  const docs = new Map(all.filter(({ path }) => path.startsWith('docs/')).map((each) => [each.path, each]))
  const found = new Set<string>()
  const waiting = ['docs/README.md']
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue
    found.add(path)
    waiting.push(...targetsOf(docs.get(path)).filter((target) => docs.has(target)))
  }
  expect([...docs.keys()].filter((path) => !found.has(path))).toEqual([])
})

/** Paths that a page of the index links to. Reference pages link to each other; only the indexes count. */
function targetsOf(from: Page | undefined): readonly string[] {
  if (!from?.path.endsWith('README.md')) return []
  return fileLinks(from.text).map((target) => posix.join(posix.dirname(from.path), target))
}

test('the terms of the glossary are in alphabetical order', () => {
  const terms = [...page(ROOT, 'docs/glossary.md').matchAll(/^\| ([^|]+) \| [^|]+ \|$/gm)].map(([, term = '']) => term)
  expect(terms.slice(1)).toEqual(terms.slice(1).toSorted())
  expect(terms.length).toBeGreaterThan(20)
})

test('a wide cell is reported, and an escaped bar does not end a cell', () => {
  const text = `| a | b |\n|---|---|\n| short | ${'x'.repeat(80)}\\|${'x'.repeat(80)} |\nprose | ${'x'.repeat(200)} |`
  expect(wideCells({ path: 'a.md', text }, WIDEST_CELL)).toEqual(['a.md:3 has a cell of 162 characters'])
})

test('docs/decisions/README.md lists every decision by its title', () => {
  const folder = 'docs/decisions/'
  const decisions = all.filter(({ path }) => path.startsWith(folder) && !path.endsWith('README.md'))
  const rows = decisions.map(({ path, text }) => `- [${text.split('\n')[0]?.slice(2)}](${path.slice(folder.length)})`)
  const listed = page(ROOT, `${folder}README.md`)
    .split('\n')
    .filter((line) => line.startsWith('- '))
  expect(listed).toEqual(rows.toSorted((a, b) => fileOf(a).localeCompare(fileOf(b), 'en')))
})

const fileOf = (row: string): string => row.slice(row.lastIndexOf('('))
