import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { catalogPath, readCatalogue } from '@agentproto/adapters'
import { expect, test } from 'vitest'
import { compileLaunch, formatProblem, parseAgentCli } from '@agentproto/manifest'
import { checkManifestFiles, findVersion, type LoadedAgentCli, readAgentCli } from '@agentproto/manifest/node'
// By its file: that package tests itself against this catalogue, and a dependency back would be a cycle.
import { parseProfile } from '../../arms/mcp/src/index.js'
import demoAgent from '../../demo-agent/package.json' with { type: 'json' }

const SLUGS = [
  'aider',
  'claude-code',
  'cline',
  'codex',
  'codex-mcp',
  'copilot',
  'cursor',
  'demo',
  'gemini-cli',
  'gemini-cli-headless',
  'goose',
  'goose-acp',
  'hermes',
  'kimi',
  'openclaw',
  'opencode',
  'pi',
  'qwen-code',
] as const
type Slug = (typeof SLUGS)[number]

async function load(slug: string): Promise<LoadedAgentCli> {
  const read = await readAgentCli(join(catalogPath, slug))
  if (!read.ok) throw new Error(read.problems.map(formatProblem).join('\n'))
  expect(read.warnings.map(formatProblem)).toEqual([])
  return read
}

/** `metadata.agentproto`. */
async function hints(slug: string): Promise<Readonly<Record<string, unknown>>> {
  const own = (await load(slug)).manifest.metadata['agentproto'] ?? {}
  if (typeof own !== 'object') throw new Error(`${slug}: metadata.agentproto is not an object`)
  return own as Record<string, unknown>
}

test('every manifest of the catalogue is valid, without a warning', async () => {
  const checked = await checkManifestFiles(SLUGS.map((slug) => join(catalogPath, slug)))
  expect(checked.flatMap(({ problems }) => problems.map(formatProblem))).toEqual([])
})

test('readCatalogue gives what readAgentCli gives for each folder, through JSON too', async () => {
  const adapters = await readCatalogue()
  expect([...adapters.keys()]).toEqual(SLUGS)
  for (const [slug, adapter] of adapters) {
    const {
      ok: _,
      warnings: __,
      ...read
    } = await readAgentCli(join(catalogPath, slug)).then((result) => {
      if (!result.ok) throw new Error(slug)
      return { ...result, path: join(catalogPath, slug, 'AGENT-CLI.md') }
    })
    expect(adapter).toEqual(read)
    expect(JSON.parse(JSON.stringify(adapter))).toEqual(read)
  }
})

test('the catalogue has these agents', async () => {
  expect((await readdir(catalogPath)).toSorted()).toEqual(SLUGS)
})

test.each(SLUGS)('%s: folder, name and id are equal, and every file exists and has no warning', async (slug) => {
  const { manifest, acp } = await load(slug)
  expect([manifest.name, manifest.id]).toEqual([slug, slug])
  const files = ['AGENT-CLI.md', 'SANDBOX.md', 'SECRETS.md', ...(manifest.protocol === 'acp' ? ['ACP.md'] : [])]
  expect((await readdir(join(catalogPath, slug))).toSorted()).toEqual(files.toSorted())
  expect(manifest.sandbox).toEqual({ from: 'file', path: './SANDBOX.md' })
  expect(acp === undefined ? undefined : [acp.id, acp.kind, acp.transports]).toEqual(
    manifest.protocol === 'acp' ? [`${slug}-acp`, 'client', ['stdio']] : undefined,
  )
})

test.each(SLUGS)('%s: its capabilities are in its ACP.md', async (slug) => {
  const { manifest, acp } = await load(slug)
  if (acp === undefined) return
  const { resumable, multimodal } = manifest.capabilities
  // Both ways: a manifest that hides what its agent can do is wrong too.
  expect([resumable, multimodal]).toEqual([acp.agent.loadSession, acp.agent.image || acp.agent.audio])
})

test.each(SLUGS)('%s: each mode has an effect, and each option compiles', async (slug) => {
  const { manifest } = await load(slug)
  const set = new Map(Object.entries((await hints(slug))['session_modes'] ?? {}))
  const ids = manifest.modes.map(({ id }) => id)
  expect([...set.keys()].filter((id) => !ids.includes(id))).toEqual([])
  // A mode without a patch or a name in the session would be granted and not kept.
  const idle = manifest.modes.filter(
    ({ id, binArgsAppend, env }) => binArgsAppend.length + Object.keys(env).length === 0 && !set.has(id),
  )
  expect(idle.map(({ id }) => id).filter((id) => id !== 'default')).toEqual([])
  for (const id of ids)
    expect(compileLaunch(manifest, { mode: id }).args.slice(0, manifest.binArgs.length)).toEqual(manifest.binArgs)
  for (const option of manifest.options) {
    const value =
      { boolean: true, integer: 7, string: 'x', enum: option.type === 'enum' ? option.enum[0] : '' }[option.type] ?? ''
    expect(() => compileLaunch(manifest, { options: { [option.id]: value } })).not.toThrow()
  }
})

test.each(SLUGS)(
  '%s: no variable is set by a mode and by an option, where one would overwrite the other',
  async (slug) => {
    const { manifest } = await load(slug)
    const ofModes = new Set(manifest.modes.flatMap(({ env }) => Object.keys(env)))
    const ofOptions = manifest.options.flatMap(({ env }) => Object.keys(env))
    expect(ofOptions.filter((name) => ofModes.has(name))).toEqual([])
    expect(new Set(ofOptions).size).toBe(ofOptions.length)
  },
)

test.each(SLUGS)('%s: its sandbox is local, lists its hosts, and sets no credential', async (slug) => {
  const { sandbox, secrets, manifest } = await load(slug)
  expect(sandbox.provider).toBe('local')
  // Its tools would be cut off too, so confinement is for a profile of one's own.
  expect([sandbox.network, sandbox.fs, sandbox.mounts]).toEqual([undefined, undefined, []])
  expect(sandbox.carried.metadata).toMatchObject({ agentproto: { hosts: expect.any(Array) } })
  const carried = new Set(secrets?.secrets.flatMap(({ variables }) => variables))
  expect(
    Object.keys(sandbox.env.set).filter((name) => carried.has(name) || /KEY|TOKEN|SECRET|PASSWORD/.test(name)),
  ).toEqual([])
  // What carries a secret also passes from the host's environment.
  const passed = new Set(manifest.auth?.state.env)
  expect([...carried].filter((name) => !passed.has(name))).toEqual([])
})

test('the demo agent has nothing unverified', async () => {
  expect(await hints('demo')).not.toHaveProperty('unverified')
})

test.each(SLUGS.filter((slug) => slug !== 'demo'))('%s: what was not verified is listed', async (slug) => {
  const { tested, unverified } = await hints(slug)
  expect(unverified).toEqual(expect.arrayContaining([expect.any(String)]))
  const unseen = ['aider', 'cursor', 'goose', 'goose-acp', 'hermes'].includes(slug)
  expect(typeof tested).toBe(unseen ? 'undefined' : 'string')
  expect((unverified as string[]).some((text) => text.startsWith('Everything'))).toBe(unseen)
})

/** What `version_check.cmd` prints: as seen, but for those that are only documented. */
const OUTPUTS: Readonly<Record<Slug, string>> = {
  aider: 'aider 0.86.2\n',
  'claude-code': '0.100.0\n',
  cline: '3.0.65\n',
  codex: '@agentclientprotocol/codex-acp 2.6.0\n',
  'codex-mcp': 'codex-cli 0.140.0\n',
  copilot: "GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.\n",
  cursor: '2026.10.01-e373342\n',
  demo: `${demoAgent.version}\n`,
  'gemini-cli': '0.61.0\n',
  'gemini-cli-headless': '0.61.0\n',
  goose: ' 1.50.0\n',
  'goose-acp': ' 1.50.0\n',
  hermes: '0.19.0\n',
  kimi: '2.1.0\n',
  openclaw: 'OpenClaw 2026.9.6 (eb377ac)\n',
  opencode: '1.18.33\n',
  pi: '',
  'qwen-code': '0.24.4\n',
}

test.each(SLUGS.filter((slug) => slug !== 'pi'))(
  '%s: its version is found in its output, and is in its range',
  async (slug) => {
    const { manifest } = await load(slug)
    expect(findVersion(manifest.versionCheck, OUTPUTS[slug])).toMatchObject({ found: true, inRange: true })
    expect(findVersion(manifest.versionCheck, 'command not found\n')).toMatchObject({ found: false })
  },
)

test('docs/adapters.md has every agent with its protocol, and no other', async () => {
  const page = await readFile(new URL('../../../docs/adapters.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \| (acp|mcp|proprietary) \|/gm)].map(([, slug, protocol]) => [
    slug,
    protocol,
  ])
  const own = await Promise.all(SLUGS.map(async (slug) => [slug, (await load(slug)).manifest.protocol]))
  expect(rows).toEqual(own)
})

test('the manifest that docs/adapters.md shows is valid', async () => {
  const page = await readFile(new URL('../../../docs/adapters.md', import.meta.url), 'utf8')
  const [, text = ''] = /```yaml\n(---\n[\s\S]*?)```/.exec(page) ?? []
  expect(parseAgentCli(text, { path: 'my-agent/AGENT-CLI.md' })).toMatchObject({ ok: true, warnings: [] })
})

test('pi-acp prints no version; the version of its package is in its range', async () => {
  const { versionCheck } = (await load('pi')).manifest
  expect(findVersion(versionCheck, OUTPUTS.pi)).toMatchObject({ found: false })
  expect(findVersion({ parse: '^(.*)$', range: versionCheck.range }, '0.0.34')).toMatchObject({ inRange: true })
})

test('a version that lacks what the manifest uses is out of its range', async () => {
  const inRange = async (slug: Slug, output: string): Promise<unknown> =>
    findVersion((await load(slug)).manifest.versionCheck, output)
  for (const [slug, output] of [
    ['claude-code', '0.49.0'],
    ['codex-mcp', 'codex-cli 0.169.0'],
    ['goose-acp', ' 1.7.0'],
    ['opencode', '2.0.0'],
  ] as const)
    expect(await inRange(slug, output)).toMatchObject({ found: true, inRange: false })
})

test('codex-mcp: the arm accepts the data of its manifest', async () => {
  const { manifest } = await load('codex-mcp')
  expect(manifest).toMatchObject({
    protocol: 'mcp',
    mcp: { transport: 'stdio', command: 'codex', args: ['mcp-server'] },
  })
  const profile = parseProfile({ transport: 'stdio', data: (await hints('codex-mcp'))['mcp'] })
  expect(profile.data.prompt?.tool).toBe('codex')
  expect(profile.data.permissions?.map(({ options }) => options.map(({ kind }) => kind))).toEqual([
    ['allow_once', 'allow_always', 'reject_once'],
    ['allow_once', 'allow_always', 'reject_once'],
  ])
})

test('no file of the catalogue contains a tab, a long line, or a path of someone’s machine', async () => {
  const found: string[] = []
  for (const slug of SLUGS) {
    for (const file of await readdir(join(catalogPath, slug))) {
      const lines = (await readFile(join(catalogPath, slug, file), 'utf8')).split('\n')
      lines.forEach((line, index) => {
        if (line.includes('\t') || line.length > 120 || /\/(?:root|tmp|work|Users|home)\//.test(line))
          found.push(`${slug}/${file}:${index + 1}`)
      })
    }
  }
  expect(found).toEqual([])
})

test('12.C8 aider sends no analytics in its runs, and the own choice of a person stays', async () => {
  const { manifest } = await load('aider')
  expect(manifest.binArgs).toContain('--no-analytics')
  expect(manifest.binArgs).not.toContain('--analytics-disable')
})

test('12.C8 goose does not list a system that it cannot be installed on', async () => {
  for (const slug of ['goose', 'goose-acp'] as const)
    expect((await load(slug)).manifest.requires.os).toEqual(['darwin', 'linux'])
})

test('12.C8 cursor takes images, and MCP servers over HTTP', async () => {
  const { manifest, acp } = await load('cursor')
  expect(manifest.capabilities.multimodal).toBe(true)
  expect(acp?.agent).toMatchObject({ image: true, mcpHttp: true })
})

test('12.C8 hermes states which Python it needs', async () => {
  expect((await hints('hermes'))['python']).toBe('>=3.11.0 <3.15.0')
})

test('12.C8 openclaw: a session, and the check of its setup, can name another gateway', async () => {
  const { manifest, sandbox } = await load('openclaw')
  const { env, args } = compileLaunch(manifest, { options: { url: 'ws://127.0.0.1:9' } })
  expect([env, args]).toEqual([{ OPENCLAW_GATEWAY_URL: 'ws://127.0.0.1:9' }, ['acp']])
  expect(manifest.setup[0]?.skipIf?.cmd).toBe('openclaw gateway health')
  // A variable of the host names it too, for the agent and for the check.
  expect(sandbox.env.passthrough).toEqual(expect.arrayContaining(['OPENCLAW_GATEWAY_URL', 'OPENCLAW_GATEWAY_PORT']))
})

test.each(SLUGS)('12.C8 %s: npm installs the version that was tested', async (slug) => {
  const { manifest } = await load(slug)
  const { tested } = await hints(slug)
  const packages = manifest.install.flatMap((method) => (method.method === 'npm' ? [method.package] : []))
  const pinned = packages.map((name) => /@(\d[^@]*)$/.exec(name)?.[1])
  const version = typeof tested === 'string' ? /\d+\.\d+\.\d+/.exec(tested)?.[0] : undefined
  // The demo agent has no other version: it is tested with every change.
  expect(pinned).toEqual(packages.map(() => version))
  for (const each of pinned.filter((found) => found !== undefined))
    expect(findVersion({ parse: '(.*)', range: manifest.versionCheck.range }, each)).toMatchObject({ inRange: true })
})

test('18.4 agents that the registry of ACP agents has are known by their ids there, each once', async () => {
  const ids = await Promise.all(SLUGS.map(async (slug) => [slug, (await hints(slug))['registry_id']] as const))
  expect(Object.fromEntries(ids.filter(([, id]) => id !== undefined))).toEqual({
    'claude-code': 'claude-acp',
    cline: 'cline',
    codex: 'codex-acp',
    copilot: 'github-copilot-cli',
    cursor: 'cursor',
    'gemini-cli': 'gemini',
    'goose-acp': 'goose',
    hermes: 'hermes-agent',
    kimi: 'kimi',
    openclaw: 'openclaw',
    opencode: 'opencode',
    pi: 'pi-acp',
    'qwen-code': 'qwen-code',
  })
})
