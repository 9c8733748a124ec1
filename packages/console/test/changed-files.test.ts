import { expect, test } from 'vitest'
import { type ChangedFile, type ChangedFolder, nameOf, treeOf } from '../web/changes/changed-files.js'

const file = (path: string, additions = 1): ChangedFile => ({
  path,
  status: 'modified',
  additions,
  deletions: 2,
  binary: false,
})

const outline = ({ name, folders, files }: ChangedFolder): unknown => [
  name,
  ...folders.map(outline),
  ...files.map(({ path }) => nameOf(path)),
]

test('15.5 changed files are a tree, in which a folder with a single folder is one row', () => {
  const tree = treeOf(
    ['a.txt', 'src/deep/er/b.txt', 'src/deep/er/c.txt', 'test/d.txt', 'test/e/f.txt'].map((p) => file(p)),
  )
  expect(outline(tree)).toEqual(['', ['src/deep/er', 'b.txt', 'c.txt'], ['test', ['e', 'f.txt'], 'd.txt'], 'a.txt'])
})

test('15.5 a folder counts the lines of all files below it', () => {
  const tree = treeOf([file('a/b/c', 3), file('a/d', 4), file('e', 5)])
  expect(tree).toMatchObject({ additions: 12, deletions: 6 })
  expect(tree.folders[0]).toMatchObject({ path: 'a', additions: 7, deletions: 4 })
})

test('15.5 names of files cannot break the tree', () => {
  expect(outline(treeOf([file('__proto__/constructor'), file('/x'), file('')]))).toEqual([
    '',
    ['__proto__', 'constructor'],
    ['', 'x'],
    '',
  ])
})
