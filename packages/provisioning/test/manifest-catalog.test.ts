import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createWorkspaces, createWorkspaceTrust } from '@agentproto/workspaces'
import { expect, onTestFinished, test } from 'vitest'
import { type CatalogFolder, ManifestCatalog } from '../src/catalog/manifest-catalog.js'
import { workspaceAdapters } from '../src/catalog/workspace-adapters.js'

interface Setup {
  readonly root: string
  readonly problems: string[]
  readonly folders: CatalogFolder[]
  readonly catalog: ManifestCatalog
  /** Writes an adapter into a folder of adapters. */
  readonly put: (folder: string, name: string, more?: string, id?: string) => void
}

function setup(): Setup {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'agentproto-catalog-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const problems: string[] = []
  const folders: CatalogFolder[] = []
  const catalog = new ManifestCatalog({
    folders: async () => folders,
    isInstalled: async () => false,
    onProblem: (problem) => problems.push(problem),
  })
  const put: Setup['put'] = (folder, name, more = '', id = name) => {
    mkdirSync(join(folder, name), { recursive: true })
    writeFileSync(join(folder, name, 'AGENT-CLI.md'), manifest(name, id, more))
  }
  return { root, problems, folders, catalog, put }
}

const manifest = (name: string, id: string, more: string): string => `---
name: ${name}
id: ${id}
description: An agent for tests.
version: 1.0.0
bin: no-such-agent
install:
  - method: npm
    package: no-such-agent
version_check: { cmd: no-such-agent --version, parse: '(\\d+)', range: '*' }
sandbox: { provider: local }
protocol: proprietary
adapter: no-such-adapter
${more}---
`

test('a summary has what is unverified, as the manifest states it', async () => {
  const { root, folders, catalog, put } = setup()
  folders.push({ path: root, source: 'user' })
  put(root, 'seen')
  put(root, 'unseen', 'metadata: { agentproto: { unverified: [Login, 7, Windows] } }\n')
  put(root, 'odd', 'metadata: { agentproto: { unverified: everything } }\n')
  const listed = await catalog.list()
  expect(listed.map(({ slug, unverified }) => [slug, unverified])).toEqual([
    ['odd', undefined],
    ['seen', undefined],
    ['unseen', ['Login', 'Windows']],
  ])
  expect(await catalog.get('unseen')).toMatchObject({ unverified: ['Login', 'Windows'] })
})

test('a summary has the agent modes for a permission mode, as the manifest states them', async () => {
  const { root, folders, catalog, put } = setup()
  folders.push({ path: root, source: 'user' })
  put(root, 'usual')
  put(root, 'own', 'metadata: { agentproto: { permission_modes: { ask: careful, approve-all: [wild, careful] } } }\n')
  const permissionModes = { ask: ['careful'], 'approve-all': ['wild', 'careful'] }
  expect(await catalog.get('own')).toMatchObject({ session: { permissionModes } })
  expect((await catalog.get('usual')).session).not.toHaveProperty('permissionModes')
})

test('an adapter that is added, changed, fixed or removed is seen without a restart', async () => {
  const { root, problems, folders, catalog, put } = setup()
  folders.push({ path: root, source: 'user' })
  await expect(catalog.get('mine')).rejects.toMatchObject({ code: 'adapter_not_found' })
  put(root, 'mine')
  expect(await catalog.get('mine')).toMatchObject({ modes: [] })
  put(root, 'mine', 'modes: [{ id: plan }]\n')
  expect(await catalog.get('mine')).toMatchObject({ modes: ['plan'] })
  put(root, 'mine', 'protocol: warp\n')
  // 12.B10
  await expect(catalog.get('mine')).rejects.toMatchObject({
    code: 'manifest_invalid',
    message: expect.stringMatching(/mine .*is left out.*protocol/s) as string,
  })
  await expect(catalog.get('other')).rejects.toMatchObject({ code: 'adapter_not_found' })
  expect(await catalog.list()).toEqual([])
  expect(problems).toEqual([expect.stringContaining('The adapter mine is left out')])
  put(root, 'mine')
  expect(await catalog.list()).toHaveLength(1)
  rmSync(join(root, 'mine'), { recursive: true })
  expect(await catalog.list()).toEqual([])
})

test('later folders override earlier ones; a workspace adds adapters and replaces none', async () => {
  const { root, problems, folders, catalog, put } = setup()
  const [workspace, bundled, user] = ['workspace', 'bundled', 'user'].map((name) => join(root, name))
  if (workspace === undefined || bundled === undefined || user === undefined) throw new Error('unreachable')
  folders.push(
    { path: workspace, source: 'workspace' },
    { path: bundled, source: 'bundled' },
    { path: user, source: 'user' },
  )
  put(workspace, 'own')
  put(workspace, 'known')
  put(bundled, 'known')
  put(bundled, 'fixed')
  put(user, 'fixed')
  const sources = async (): Promise<unknown> => (await catalog.list()).map(({ slug, source }) => [slug, source])
  expect(await sources()).toEqual([
    ['fixed', 'user'],
    ['known', 'bundled'],
    ['own', 'workspace'],
  ])
  await sources()
  expect(problems).toEqual([expect.stringContaining('The adapter known of')])
})

test('12.C5 an adapter is listed and found by its id, whatever the name of its folder is', async () => {
  const { root, problems, folders, catalog, put } = setup()
  const [bundled, user] = [join(root, 'bundled'), join(root, 'user')]
  folders.push({ path: bundled, source: 'bundled' }, { path: user, source: 'user' })
  put(bundled, 'tool')
  put(bundled, 'other')
  put(user, 'mine', '', 'tool')
  expect((await catalog.list()).map(({ slug, source }) => [slug, source])).toEqual([
    ['other', 'bundled'],
    ['tool', 'user'],
  ])
  expect(await catalog.adapter('tool')).toMatchObject({ directory: join(user, 'mine'), manifest: { id: 'tool' } })
  await expect(catalog.get('mine')).rejects.toMatchObject({ code: 'adapter_not_found' })
  put(user, 'tool')
  expect(await catalog.adapter('tool')).toMatchObject({ directory: join(user, 'tool') })
  expect(problems).toEqual([
    expect.stringContaining(`of ${join(user, 'mine')} is left out: another adapter has that id`),
  ])
})

test('12.C5 a folder of a workspace with the id of a known adapter does not replace it', async () => {
  const { root, folders, catalog, put } = setup()
  const [workspace, bundled] = [join(root, 'workspace'), join(root, 'bundled')]
  folders.push({ path: workspace, source: 'workspace' }, { path: bundled, source: 'bundled' })
  put(workspace, 'harmless', '', 'known')
  put(bundled, 'known')
  expect(await catalog.get('known')).toMatchObject({ source: 'bundled' })
  await expect(catalog.get('harmless')).rejects.toMatchObject({ code: 'adapter_not_found' })
})

test('the adapters of a workspace are found only while the owner trusts its folder', async () => {
  const { root, put } = setup()
  const path = join(root, 'project')
  put(join(path, '.agentproto', 'adapters'), 'own')
  const workspaces = createWorkspaces({ home: join(root, 'home'), defaultCwd: root })
  const trust = createWorkspaceTrust({ home: join(root, 'home') })
  const found = (): Promise<readonly CatalogFolder[]> => workspaceAdapters(workspaces, trust)
  await workspaces.add({ path, slug: 'project' })
  expect(await found()).toEqual([])
  await trust.trust(path)
  expect(await found()).toEqual([{ path: join(path, '.agentproto', 'adapters'), source: 'workspace' }])
  await workspaces.remove('project')
  expect(await found()).toEqual([])
  await workspaces.add({ path, slug: 'again' })
  expect(await found()).toHaveLength(1)
  await trust.distrust(path)
  expect(await found()).toEqual([])
})

test('15.3 the catalogue says what each mode, model and option is, without its arguments', async () => {
  const { root, folders, catalog, put } = setup()
  folders.push({ path: root, source: 'user' })
  put(root, 'plain')
  put(root, 'rich', RICH)
  expect(await catalog.get('plain')).toMatchObject({ modes: [], modeDescriptions: {}, models: {}, options: [] })
  const { modes, modeDescriptions, models, options } = await catalog.get('rich')
  expect({ modes, modeDescriptions, models }).toEqual({
    modes: ['plan', 'quiet'],
    modeDescriptions: { plan: 'Changes nothing' },
    models: { default: 'a', allowed: ['a', 'b'] },
  })
  expect(options).toEqual([
    { id: 'model', type: 'string', description: 'What thinks' },
    { id: 'effort', type: 'enum', enum: ['low', 'high'], default: 'low' },
    { id: 'steps', type: 'integer', default: 3, min: 1, max: 9 },
    { id: 'fast', type: 'boolean', default: false },
  ])
})

const RICH = `modes:
  - { id: plan, description: Changes nothing, bin_args_append: [--plan] }
  - { id: quiet }
models: { default: a, allowed: [a, b] }
options:
  - { id: model, type: string, description: What thinks, env: { NO_SUCH_MODEL: '{value}' } }
  - { id: effort, type: enum, enum: [low, high], default: low, bin_args_template: [--effort, '{value}'] }
  - { id: steps, type: integer, default: 3, min: 1, max: 9, bin_args_template: [--steps, '{value}'] }
  - { id: fast, type: boolean, default: false, bin_args_append_when_true: [--fast] }
`
