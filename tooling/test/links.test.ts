import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { fileLinks, pages } from '../markdown.ts'
import type { Page } from '../markdown.ts'
import { ROOT } from '../packages.ts'
import { sourceFiles } from '../source-files.ts'

const dead = ({ path, text }: Page): readonly string[] =>
  fileLinks(text)
    .filter((target) => !existsSync(join(ROOT, dirname(path), decodeURI(target))))
    .map((target) => `${path} → ${target}`)

test('every link to a file of the repository works', () => {
  expect(pages(ROOT).flatMap(dead)).toEqual([])
})

test('every page that a comment names exists', () => {
  const named = ['packages', 'e2e', 'tooling', 'examples', 'benches'].flatMap((folder) =>
    sourceFiles(ROOT, folder).flatMap(({ path, text }) =>
      [...text.matchAll(/\bdocs\/[\w/-]+\.md\b/g)].map(([target]) => ({ path, target })),
    ),
  )
  expect(named.filter(({ target }) => !existsSync(join(ROOT, target)))).toEqual([])
})

test('a dead link is reported; an address, an anchor and code are not links to files', () => {
  expect(dead({ path: 'docs/errors.md', text: '[a](b.md#c) [d](./errors.md)' })).toEqual(['docs/errors.md → b.md'])
  expect(
    dead({ path: 'docs/errors.md', text: '[a](https://x.y/z) [b](#c) `[c](d.md)`\n```\n[e](f.md)\n```\n' }),
  ).toEqual([])
})
