import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  distributionFor,
  manifestOf,
  type ManifestOptions,
  parseRegistry,
  type RegistryEntry,
} from '@agentproto/acp-registry'
import type { AgentObservation } from '@agentproto/contracts/agent'
import type { AgentCliManifest } from '@agentproto/manifest'
import { readAgentCli } from '@agentproto/manifest/node'
import { temporaryFolder } from './registry-server.js'
import { documentOf, entryWith, SAMPLE_TEXT, sampleEntry } from './sample-registry.js'

const SOURCE = { url: 'https://registry.example/registry.json' }
const ADDED_AT = Date.parse('2026-11-23T09:00:00Z')

/** The adapter of an entry as the driver reads it, from files. */
async function adapterOf(entry: RegistryEntry, options: Partial<ManifestOptions> = {}) {
  const choice = distributionFor(entry, { os: 'linux', arch: 'x64' }, { npm: true, uv: true, python: true })
  if (!choice.ok) throw new Error(JSON.stringify(choice.refused))
  const { slug, files } = manifestOf(entry, choice.distribution, { source: SOURCE, addedAt: ADDED_AT, ...options })
  const folder = join(await temporaryFolder(), slug)
  await mkdir(folder)
  for (const [name, text] of files) await writeFile(join(folder, name), text)
  const read = await readAgentCli(folder)
  if (!read.ok) throw new Error(JSON.stringify(read.problems))
  return { ...read, files }
}

const entryOf = (members: object): RegistryEntry => {
  const [entry] = parseRegistry(documentOf(entryWith(members))).agents
  if (entry === undefined) throw new Error('The entry was left out')
  return entry
}

test('18.2 each entry of the sample becomes an adapter that our own check accepts without a warning', async () => {
  for (const entry of parseRegistry(SAMPLE_TEXT).agents) {
    const { manifest, acp, warnings } = await adapterOf(entry)
    expect([manifest.id, manifest.name, acp?.kind, warnings]).toEqual([entry.id, entry.id, 'client', []])
  }
})

test('18.2 an npm package is installed at its exact version, without running scripts', async () => {
  const { manifest } = await adapterOf(sampleEntry('gemini'))
  expect(manifest).toMatchObject({
    bin: 'gemini-cli',
    binArgs: ['--acp'],
    install: [{ method: 'npm', package: '@google/gemini-cli@0.57.0' }],
    metadata: { agentproto: { install_scripts: 'skip', homepage: 'https://geminicli.com/' } },
  })
})

test('18.2 what is known beyond the entry replaces what it says', async () => {
  const more = { program: 'gemini', version: '0.57.1', allowScripts: true }
  const { manifest } = await adapterOf(sampleEntry('gemini'), more)
  expect(manifest).toMatchObject({
    bin: 'gemini',
    install: [{ method: 'npm', package: '@google/gemini-cli@0.57.1' }],
    versionCheck: { cmd: 'gemini --version' },
    metadata: { agentproto: { install_scripts: 'run' } },
  })
})

test('18.2 a Python package is installed by uv, else by pip', async () => {
  const { manifest } = await adapterOf(sampleEntry('minion-code'))
  expect(manifest.install).toMatchObject([
    { method: 'uv', package: 'minion-code==0.1.44', experimental: true },
    { method: 'pip', package: 'minion-code==0.1.44' },
  ])
})

test('18.2 a file is downloaded for this platform, with a checksum if there is one', async () => {
  const { manifest } = await adapterOf(sampleEntry('goose'))
  expect(manifest).toMatchObject({
    bin: 'goose',
    install: [{ method: 'download', extractBin: 'goose', verifySha256: 'ab'.repeat(32) }],
    requires: { os: ['linux'], arch: ['x64'] },
    metadata: { agentproto: { unpack: 'all' } },
  })
  const { manifest: raw } = await adapterOf(sampleEntry('oh-my-pi'), { sha256: 'cd'.repeat(32) })
  expect(raw.install).toMatchObject([{ extractBin: 'omp', verifySha256: 'cd'.repeat(32) }])
  expect(raw.metadata).not.toMatchObject({ agentproto: { unpack: 'all' } })
})

test('18.2 the manifest says where it came from', async () => {
  const entry = sampleEntry('auggie')
  const { manifest } = await adapterOf(entry)
  expect(manifest.metadata).toMatchObject({
    agentproto: {
      registry: {
        ...SOURCE,
        id: 'auggie',
        name: 'Auggie CLI',
        version: '0.36.0',
        license: 'proprietary',
        way: 'npx',
        sha256: entry.sha256,
        added_at: '2026-11-23T09:00:00.000Z',
      },
    },
  })
})

test('18.2 before a handshake nothing is declared that only it can show', async () => {
  const { manifest, acp } = await adapterOf(sampleEntry('auggie'))
  expect(manifest).toMatchObject({
    capabilities: { resumable: false, multimodal: false },
    session: { mode: 'ephemeral' },
  })
  // Such an agent's login is shown as unknown.
  expect(manifest.auth).toEqual({ state: { paths: [], env: [] } })
  expect(acp?.agent).toEqual({
    loadSession: false,
    image: false,
    audio: false,
    embeddedContext: false,
    mcpHttp: false,
    mcpSse: false,
  })
  expect(JSON.stringify(manifest.metadata['agentproto'])).toContain('Everything but the form of the manifest')
})

const OBSERVED: AgentObservation = {
  at: '2026-11-23T10:00:00.000Z',
  agentName: 'Auggie',
  agentVersion: '0.36.0',
  protocolVersion: 1,
  handshakeMs: 1_060,
  capabilities: {
    load: true,
    resume: false,
    list: false,
    close: false,
    fork: false,
    image: true,
    audio: false,
    embeddedContext: true,
    mcpHttp: true,
    mcpSse: false,
    additionalDirectories: false,
  },
  modes: [],
  models: [],
  logins: [],
  session: 'opened',
  ends: 'stdin',
  endMs: 120,
  stdoutNoise: { lines: 0 },
  leaves: { processes: [], files: 3, bytes: 4_096 },
}

test('18.3 after a handshake the capabilities are those that the agent named, and what was measured is in the manifest', async () => {
  const { manifest, acp } = await adapterOf(sampleEntry('auggie'), { observed: OBSERVED })
  expect(manifest).toMatchObject({
    capabilities: { resumable: true, multimodal: true },
    session: { mode: 'resumable' },
    metadata: { agentproto: { observed: { at: OBSERVED.at, handshake_ms: 1_060, capabilities: { mcp_http: true } } } },
  })
  expect(acp?.agent).toMatchObject({ loadSession: true, image: true, mcpHttp: true })
  expect(JSON.stringify(manifest.metadata['agentproto'])).not.toContain('Everything but the form')
})

test('18.3 modes that the agent named can be chosen, and no text of it makes the manifest invalid', async () => {
  const key = 'sk-0123456789abcdefghijABCDEFGHIJ0123456789'
  const modes = [
    { id: 'Plan mode', name: '' },
    { id: '***', name: 'Left out' },
    { id: 'auto', name: 'Auto', description: `---\n{{x}} ${key}` },
  ]
  const session = { refused: { code: 'auth_required', message: `Invalid key ${key}: --- {a: b} *x` } } as const
  const noise = { lines: 1, first: 'export API_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345' }
  const observed = { ...OBSERVED, modes, session, agentName: '', stdoutNoise: noise }
  const adapter = await adapterOf(sampleEntry('auggie'), { observed })
  expect(adapter.manifest.modes.map(({ id }) => id)).toEqual(['plan-mode', 'auto'])
  expect(hintsOf(adapter)).toMatchObject({ session_modes: { 'plan-mode': 'Plan mode', auto: 'auto' } })
  expect(adapter.warnings).toEqual([])
})

test('18.3 an agent that opened no session, and one whose handshake failed, say so in unverified', async () => {
  const refused = { refused: { code: 'auth_required', agentCode: -32000, message: 'Log in' } } as const
  const closed = await adapterOf(sampleEntry('auggie'), { observed: { ...OBSERVED, session: refused } })
  expect(hintsOf(closed)).toMatchObject({ unverified: expect.arrayContaining([expect.stringMatching(/no session/)]) })
  const failed = {
    at: OBSERVED.at,
    failed: { code: 'timeout', message: 'The agent did not answer initialize' },
  } as const
  const mute = await adapterOf(sampleEntry('auggie'), { observed: failed })
  expect(hintsOf(mute)).toMatchObject({
    observed: failed,
    unverified: expect.arrayContaining([
      expect.stringMatching(/its handshake failed/),
      expect.stringMatching(/form of the manifest/),
    ]),
  })
  expect(mute.manifest.capabilities).toMatchObject({ resumable: false, multimodal: false })
})

const hintsOf = ({ manifest }: { readonly manifest: AgentCliManifest }): unknown => manifest.metadata['agentproto']

test('18.2 variables are set, but not a credential and not an empty value: these are the user’s', async () => {
  const env = { MODE: 'acp', OPENAI_BASE_URL: '', SAMPLE_API_KEY: 'sk-0123456789abcdefghij' }
  const { sandbox, files } = await adapterOf(entryOf({ distribution: { npx: { package: 'sample', env } } }))
  expect(sandbox.env).toMatchObject({ set: { MODE: 'acp' }, passthrough: ['OPENAI_BASE_URL', 'SAMPLE_API_KEY'] })
  expect([...files.values()].join('')).not.toContain('sk-0123456789')
})

test('18.2 no text of an entry can add a key or end the front matter', async () => {
  const text = 'x"\': {} # ---\n---\nmetadata: {a: b}\n---'
  const entry = entryOf({
    name: text,
    description: text,
    license: text,
    authors: [text],
    distribution: { npx: { package: 'sample', args: ["'", '---', '${HOME}', '!!js/function', '*a', '{{x}}'] } },
  })
  const { manifest } = await adapterOf(entry)
  expect(manifest.binArgs).toEqual(["'", '---', '${HOME}', '!!js/function', '*a', '{{x}}'])
  expect(Object.keys(manifest.metadata)).toEqual(['agentproto'])
})
