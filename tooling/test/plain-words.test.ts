import { expect, test } from 'vitest'
import { pages } from '../markdown.ts'
import { ROOT, workspacePackages } from '../packages.ts'
import { replacedWords } from '../plain-words.ts'
import { sourceFiles } from '../source-files.ts'

const files = [
  ...workspacePackages().flatMap(({ folder }) => sourceFiles(ROOT, `${folder}/src`)),
  ...sourceFiles(ROOT, 'examples'),
  ...sourceFiles(ROOT, 'tooling').filter(({ path }) => !/tooling\/test|plain-words/.test(path)),
  ...pages(ROOT).filter(({ path }) => !/\/(?:test|catalog|samples|fixtures)\//.test(path)),
]

/** `packages/cli/src/x.ts` → `packages/cli`, `docs/guides/embed.md` → `docs/guides`, `README.md` → `.`. */
function placeOf(path: string): string {
  const folders = path.split('/').slice(0, -1)
  return folders.slice(0, path.startsWith('packages/arms/') ? 3 : 2).join('/') || '.'
}

const places = [...new Set(files.map(({ path }) => placeOf(path)))].toSorted()

test.each(places)('%s uses plain words', (place) => {
  const inPlace = files.filter(({ path }) => placeOf(path) === place)
  expect(inPlace.flatMap(replacedWords), 'see tooling/plain-words.ts').toEqual([])
})

test('a replaced word is found in prose and in identifiers, and not inside of another word', () => {
  const text = '// Nobody is told\nconst tellOwner = SHELF_LIFE\nconst storytelling = 1'
  const found = replacedWords({ path: 'a.ts', text })
  expect(found.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
    'a.ts:1 nobody',
    'a.ts:1 told',
    'a.ts:2 tell',
    'a.ts:2 shelf',
  ])
})
