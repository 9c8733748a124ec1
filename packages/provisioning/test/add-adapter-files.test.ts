import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { addAdapterFiles } from '@agentproto/provisioning'
import { expect, test } from 'vitest'
import { adapterOf, hostOf, textAt } from './test-host.ts'

/** The texts of an adapter, as a program has them that wrote them itself. */
async function textsOf(version: string): Promise<Map<string, string>> {
  const { directory } = await adapterOf({ version })
  return new Map(['AGENT-CLI.md', 'ACP.md'].map((name) => [name, readFileSync(join(directory, name), 'utf8')]))
}

const { signal } = new AbortController()

test('18.2 an adapter is written into the home for its owner alone, and replaced as a whole', async () => {
  const host = hostOf()
  const added = await addAdapterFiles({ slug: 'tool', files: await textsOf('1.0.0') }, host, signal)
  const folder = join(host.home, 'adapters/tool')
  expect([added.directory, readdirSync(folder).toSorted()]).toEqual([folder, ['ACP.md', 'AGENT-CLI.md']])
  expect((statSync(join(folder, 'AGENT-CLI.md')).mode & 0o777).toString(8)).toBe('600')
  await addAdapterFiles({ slug: 'tool', files: await textsOf('2.0.0') }, host, signal)
  expect(textAt(join(folder, 'AGENT-CLI.md'))).toContain('"version":"2.0.0"')
  expect(readdirSync(join(host.home, 'adapters'))).toEqual(['tool'])
})

test('18.2 one that is not valid leaves what was there', async () => {
  const host = hostOf()
  await addAdapterFiles({ slug: 'tool', files: await textsOf('1.0.0') }, host, signal)
  const broken = (await textsOf('2.0.0')).set('ACP.md', 'nothing')
  await expect(addAdapterFiles({ slug: 'tool', files: broken }, host, signal)).rejects.toMatchObject({
    code: 'manifest_invalid',
  })
  expect(textAt(join(host.home, 'adapters/tool/AGENT-CLI.md'))).toContain('"version":"1.0.0"')
  expect(readdirSync(join(host.home, 'adapters'))).toEqual(['tool'])
})

test.each(['../tool', '.tool', 'a/b', ''])('18.2 the slug %j is refused', async (slug) => {
  const host = hostOf()
  const files = await textsOf('1.0.0')
  await expect(addAdapterFiles({ slug, files }, host, signal)).rejects.toMatchObject({ code: 'path_invalid' })
  expect(readdirSync(host.home)).toEqual([])
})

test.each(['../../evil.md', 'run.sh', '/etc/passwd'])('18.2 the file %j is refused', async (name) => {
  const host = hostOf()
  const files = (await textsOf('1.0.0')).set(name, 'x')
  await expect(addAdapterFiles({ slug: 'tool', files }, host, signal)).rejects.toMatchObject({ code: 'path_invalid' })
})
