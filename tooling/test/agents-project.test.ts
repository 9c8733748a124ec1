import { expect, test } from 'vitest'
import { PINNED_AGENTS } from '../../e2e/agent-cache.mjs'
import { ROOT } from '../packages.ts'
import { sourceFiles } from '../source-files.ts'

// `pnpm test` installs no agent, so a test that needs one would be skipped there and run nowhere else.

/** Names that a file passes to `needs`. */
const neededBy = (text: string): readonly string[] =>
  [...text.matchAll(/\bneeds\(([^)]*)\)/g)].flatMap(([, names = '']) => names.match(/[\w-]+/g) ?? [])

test('a test that needs a real agent or a foreign client is in a file named *.agents.test.ts', () => {
  const files = ['packages', 'e2e', 'tooling'].flatMap((folder) => sourceFiles(ROOT, folder))
  const misplaced = files.filter(
    ({ path, text }) =>
      path.endsWith('.test.ts') &&
      !path.endsWith('.agents.test.ts') &&
      !path.startsWith('tooling/test/') &&
      neededBy(text).some((name) => name in PINNED_AGENTS),
  )
  expect(misplaced.map(({ path }) => path)).toEqual([])
  expect(neededBy("test('a', needs('tmux', 'opencode'), () => {})")).toEqual(['tmux', 'opencode'])
})
