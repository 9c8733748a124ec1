import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { catalogPath } from '@agentproto/adapters'
import { expect, test } from 'vitest'
import { formatProblem } from '@agentproto/manifest'
import { checkManifestFiles, readAgentCli } from '@agentproto/manifest/node'

test('every bundled adapter is valid, without a warning', async () => {
  const slugs = await readdir(catalogPath)
  expect(slugs).toContain('demo')
  const checked = await checkManifestFiles(slugs.map((slug) => join(catalogPath, slug)))
  expect(checked.flatMap(({ problems }) => problems.map(formatProblem))).toEqual([])
})

test('the example of the README of @agentproto/adapters does what it says', async () => {
  const demo = await readAgentCli(`${catalogPath}/demo`)
  expect(demo).toMatchObject({ ok: true, manifest: { protocol: 'acp' } })
})
