import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createProgram } from '../../packages/cli/src/program.ts'
import { manPages } from '../man-page.ts'
import { needs } from '../needs.ts'
import { ROOT } from '../packages.ts'

// The pages are generated from the commands: `pnpm generate` writes them.

const FOLDER = join(ROOT, 'packages/cli/man')
const context = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough(), env: {}, cwd: '/' }
const pages = manPages(await createProgram(context, () => () => Promise.resolve()))

test.each(pages)('$file matches the commands', async ({ file, text }) => {
  await expect(text).toMatchFileSnapshot(join(FOLDER, file))
})

test.each(pages)('groff reads $file without a warning', needs('groff'), ({ text }) => {
  const { status, stderr } = spawnSync('groff', ['-man', '-ww', '-z', '-Tutf8'], { input: text, encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})

test('each command has a page, and there is no other page', () => {
  expect(readdirSync(FOLDER).toSorted()).toEqual(pages.map(({ file }) => file).toSorted())
})

test.each(pages)('mandoc reports no error in $file', needs('mandoc'), ({ text }) => {
  const { status, stdout } = spawnSync('mandoc', ['-T', 'lint', '-W', 'error'], { input: text, encoding: 'utf8' })
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
})
