import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { subject, take, tempFolder, write } from './folders.ts'

test('13.3 a turn that changed nothing costs two looks at the folder and two writes', async () => {
  const { git, started } = await countedGit()
  const { changes, folder } = await subject({ git })
  await write(folder, { 'a/b': '1', c: '2' })
  await take(changes)
  await write(folder, { c: '3' })
  await take(changes, { turn: 1 })
  await started()
  await take(changes, { turn: 2 })
  expect(await started()).toEqual(['commit-tree', 'diff-files', 'ls-files', 'update-ref'])
  // Compared with the turn before and with the start; what changed within the last second is looked at again.
  await write(folder, { c: '4' })
  await take(changes, { turn: 3 })
  const looks = ['diff-files', 'diff-tree', 'diff-tree', 'ls-files', 'ls-files']
  expect(await started()).toEqual(['commit-tree', ...looks, 'update-index', 'update-ref', 'write-tree'])
})

/** git, and which of its commands were started since the last time, by name. */
async function countedGit() {
  const root = await tempFolder()
  const [git, log] = [join(root, 'git'), join(root, 'started')]
  await writeFile(log, '')
  await writeFile(git, `#!/bin/sh\nprintf '%s\\n' "$*" >> '${log}'\nexec git "$@"\n`)
  await chmod(git, 0o755)
  const started = async (): Promise<readonly string[]> => {
    const lines = (await readFile(log, 'utf8')).split('\n').filter((line) => line !== '')
    await writeFile(log, '')
    return lines.map((line) => COMMAND.exec(line)?.[0] ?? line).toSorted()
  }
  return { git, started }
}

const COMMAND =
  /\b(?:commit-tree|diff-files|diff-tree|for-each-ref|ls-files|update-index|update-ref|version|write-tree)\b/
