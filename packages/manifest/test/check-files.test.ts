import { join } from 'node:path'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { checkManifestFiles } from '@agentproto/manifest/node'
import { DOCUMENTS } from './documents.js'
import { SAMPLE } from './sample.js'
import { tempFolder } from './temp-folder.js'

const md = (document: unknown): string => `---\n${stringify(document)}---\n`

test('each file is checked as the kind that its name stands for', async () => {
  const root = await tempFolder({
    'sample/AGENT-CLI.md': SAMPLE,
    'sample/ACP.md': md(DOCUMENTS.acp),
    'sample/hermes.ACP.md': md({ ...(DOCUMENTS.acp as object), kind: 'x' }),
    'sample/SECRETS.md': md(DOCUMENTS.secrets),
    'sample/SANDBOX.md': md(DOCUMENTS.sandbox),
    'sample/README.md': '# Sample',
  })
  const names = ['AGENT-CLI.md', 'ACP.md', 'hermes.ACP.md', 'SECRETS.md', 'SANDBOX.md', 'README.md', 'none/SECRETS.md']
  const checked = await checkManifestFiles(names.map((name) => join(root, 'sample', name)))
  expect(checked.map(({ ok, problems }) => [ok, ...problems.map((problem) => problem.code)])).toEqual([
    [true],
    [true],
    [false, 'value_unknown'],
    [true],
    [true],
    [false, 'front_matter_missing'],
    [false, 'file_unreadable'],
  ])
})

test('all manifests in a folder are checked, and files they refer to are reported once', async () => {
  const bad = md(DOCUMENTS.acp).replace('kind: server', 'kind: srever')
  const root = await tempFolder({
    'one/AGENT-CLI.md': SAMPLE.replaceAll('name: sample', 'name: one'),
    'one/ACP.md': md(DOCUMENTS.acp),
    'one/SECRETS.md': md(DOCUMENTS.secrets),
    'two/first.AGENT-CLI.md': SAMPLE,
    'two/second.AGENT-CLI.md': SAMPLE,
    'two/ACP.md': bad,
    '.agentproto/adapters/three/AGENT-CLI.md': '',
    'node_modules/four/AGENT-CLI.md': '',
    '.git/AGENT-CLI.md': '',
    'README.md': '# Not a manifest',
  })
  const checked = await checkManifestFiles([root])
  expect(
    checked.map(({ path, problems }) => [path.slice(root.length + 1), ...problems.map(({ code }) => code)]),
  ).toEqual([
    ['.agentproto/adapters/three/AGENT-CLI.md', 'front_matter_missing'],
    ['one/AGENT-CLI.md'],
    ['one/SECRETS.md'],
    ['two/first.AGENT-CLI.md', 'reference_invalid', 'value_unknown'],
    ['two/second.AGENT-CLI.md', 'reference_invalid', 'value_unknown'],
  ])
})

test('a folder without a manifest is an error', async () => {
  const root = await tempFolder({ 'README.md': '# Sample' })
  expect(await checkManifestFiles([root])).toMatchObject([
    { path: root, ok: false, problems: [{ code: 'file_unreadable', message: 'The folder contains no manifest.' }] },
  ])
})

test('a thousand manifests with their references are checked within the time limit', { timeout: 180_000 }, async () => {
  const files = Array.from({ length: 1_000 }, (_, index) => [
    `${index}/sample/AGENT-CLI.md`,
    SAMPLE.replace('An agent', `Agent ${index}`),
  ])
  const acps = Array.from({ length: 1_000 }, (_, index) => [`${index}/sample/ACP.md`, md(DOCUMENTS.acp)])
  const root = await tempFolder(Object.fromEntries([...files, ...acps]) as Record<string, string>)
  const began = process.cpuUsage()
  const checked = await checkManifestFiles(Array.from({ length: 1_000 }, (_, index) => join(root, `${index}/sample`)))
  const { user, system } = process.cpuUsage(began)
  expect(checked.filter(({ ok }) => ok)).toHaveLength(1_000)
  // Processor time, with room for a shared machine. The command line takes about two seconds on an idle one.
  expect((user + system) / 1e6).toBeLessThan(8)
})
