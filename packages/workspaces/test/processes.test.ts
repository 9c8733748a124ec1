import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { tempHome } from './temp-home.js'

const run = promisify(execFile)
const packageRoot = fileURLToPath(new URL('..', import.meta.url))
const fixture = join(packageRoot, 'test/fixtures/add-workspace.mjs')

test('twenty processes that add at once lose nothing', { timeout: 60_000 }, async () => {
  // The processes run the built package; building what is up to date takes a moment only.
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
  await run(process.execPath, [tsc, '-b', packageRoot])
  const { service, home, folder } = await tempHome()
  const paths = await Promise.all(Array.from({ length: 20 }, (_, index) => folder(`${index}/same-name`)))
  const slugs = await Promise.all(
    paths.map(async (path) => (await run(process.execPath, [fixture, home, path])).stdout),
  )
  const { workspaces } = await service.list()
  expect(new Set(slugs).size).toBe(20)
  expect(workspaces.map((workspace) => workspace.slug).toSorted()).toEqual(slugs.toSorted())
  expect(workspaces.map((workspace) => workspace.path).toSorted()).toEqual(paths.toSorted())
})
