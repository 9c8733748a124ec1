import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createChangeStore } from '@agentproto/changes'
import { expect, test } from 'vitest'
import { read, tempFolder } from './folders.ts'

test('the example of the README does what it says', async () => {
  const folder = await tempFolder()
  const home = await tempFolder()
  await writeFile(join(folder, 'notes.md'), 'before\n')
  const work = (): Promise<void> => writeFile(join(folder, 'notes.md'), 'after\n')

  const changes = await createChangeStore({ home }).open(folder)
  const start = await changes.checkpoint({ session: 'ses_1' })
  await work()
  if (start.kind !== 'taken') throw new Error(start.detail)
  const { files } = await changes.changes(start.checkpoint.id, 'now')
  const patch = changes.diff({ from: start.checkpoint.id, to: 'now', maxBytes: 1 << 20 })
  const pieces: string[] = []
  for await (const piece of patch) pieces.push(Buffer.from(piece).toString())
  const { before } = await changes.rewind({ session: 'ses_1', to: start.checkpoint.id })

  expect(files).toMatchObject([{ path: 'notes.md', status: 'modified', additions: 1, deletions: 1 }])
  expect(pieces.join('')).toContain('-before\n+after\n')
  expect(await read(folder)).toEqual({ 'notes.md': 'before\n' })
  expect(before).toMatchObject({ session: 'ses_1', files: 1 })
})
