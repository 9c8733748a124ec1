import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type Distribution,
  distributionFor,
  manifestOf,
  parseRegistry,
  REGISTRY_BYTES_MAX,
  type RegistryDistribution,
  type RegistryEntry,
} from '@agentproto/acp-registry'
import { isAgentprotoError } from '@agentproto/contracts'
import { parseAgentCli } from '@agentproto/manifest'
import { ENTRY_FACTS } from './entry-facts.js'
import { documentOf, entryWith, SAMPLE_TEXT } from './sample-registry.js'

const entryOf = (members: object) => parseRegistry(documentOf(entryWith(members))).agents[0]
const messagesOf = (...agents: readonly unknown[]): readonly string[] =>
  parseRegistry(documentOf(...agents)).problems.map(({ message }) => message)

test('18.1 entries as the public registry has them are read without a problem', () => {
  const { version, agents, problems } = parseRegistry(SAMPLE_TEXT)
  expect([version, agents.length, problems]).toEqual(['1.0.0', 16, []])
  expect(agents.find(({ id }) => id === 'gemini')).toMatchObject({
    name: 'Gemini CLI',
    authors: ['Google'],
    repository: 'https://github.com/google-gemini/gemini-cli',
    distribution: { npx: { package: '@google/gemini-cli@0.57.0', args: ['--acp'], env: {} } },
  })
  expect(agents.find(({ id }) => id === 'goose')?.distribution.binary?.['linux-x86_64']?.sha256).toBe('ab'.repeat(32))
})

test('18.1 each agent that the public registry had in August 2026 is read, and has a manifest for every way of it', () => {
  const { agents, problems } = parseRegistry(documentOf(...ENTRY_FACTS))
  expect([agents.length, problems]).toEqual([86, []])
  const platforms = [
    { os: 'linux', arch: 'x64' },
    { os: 'darwin', arch: 'arm64' },
  ] as const
  const refused = agents.flatMap((entry) =>
    waysOf(entry).flatMap((distribution) =>
      platforms.flatMap((platform) => {
        const choice = distributionFor({ distribution }, platform, { npm: true, uv: true, python: true })
        if (!choice.ok) return choice.refused.map(({ reason }) => `${entry.id}: ${reason}`)
        manifestOf(entry, choice.distribution, { source: { url: 'https://registry.example/' }, addedAt: 0 })
        return []
      }),
    ),
  )
  expect(refused).toEqual([expect.stringContaining('kiro: Kiro CLI.dmg is of a form that is not supported')])
})

/** Each way of an entry by itself. */
const waysOf = ({ distribution }: RegistryEntry): readonly RegistryDistribution[] =>
  Object.entries(distribution).map(([way, value]) => ({ [way]: value }))

test('18.1 one entry alone is read like a document', () => {
  expect(parseRegistry(JSON.stringify(entryWith({}))).agents.map(({ id }) => id)).toEqual(['sample'])
})

test('18.1 a key, a way or a platform that is not known yet does not spoil the entry', () => {
  const distribution = { docker: { image: 'x' }, binary: { 'plan9-mips': { archive: 1 } } }
  expect(entryOf({ distribution, preview: true, license: null })).toMatchObject({ id: 'sample', distribution: {} })
})

test.each([
  ['no id', { id: undefined }, '`id`'],
  ['an id with dots', { id: '../etc' }, '`id`'],
  ['an id with capitals', { id: 'Sample' }, '`id`'],
  ['an id that begins with a digit', { id: '1up' }, '`id`'],
  ['an id of 65 characters', { id: 'a'.repeat(65) }, '`id`'],
  ['a name that is a number', { name: 5 }, '`name`'],
  ['a name of control characters', { name: '\u001B[31m\u0007' }, '`name`'],
  ['a version with a blank', { version: '1.2.3 4' }, '`version`'],
  ['no distribution', { distribution: undefined }, '`distribution`'],
  ['a package that is a list', { distribution: { npx: { package: ['x'] } } }, '`distribution.npx.package`'],
  ['an argument with an escape', { distribution: { npx: { package: 'x', args: ['\u001B]0;x\u0007'] } } }, 'args.0'],
  ['an argument that turns the text around', { distribution: { npx: { package: 'x', args: ['\u202E'] } } }, 'args.0'],
  ['65 arguments', { distribution: { npx: { package: 'x', args: Array(65).fill('x') } } }, 'args'],
  ['a variable with a blank', { distribution: { npx: { package: 'x', env: { 'A B': '1' } } } }, 'env'],
  [
    'an archive without a scheme',
    { distribution: { binary: { 'linux-x86_64': { archive: 'x', cmd: 'x' } } } },
    'archive',
  ],
])('18.1 an entry with %s is left out and named, and the others are read', (_what, members, named) => {
  const { agents, problems } = parseRegistry(documentOf(entryWith(members), entryWith({ id: 'other' })))
  expect(agents.map(({ id }) => id)).toEqual(['other'])
  expect(problems).toMatchObject([{ index: 0, entry: 'left-out' }])
  expect(problems[0]?.message).toContain(named)
})

test('18.1 of two entries with one id the first counts', () => {
  const { agents, problems } = parseRegistry(documentOf(entryWith({ name: 'First' }), entryWith({ name: 'Second' })))
  expect(agents.map(({ name }) => name)).toEqual(['First'])
  expect(problems).toMatchObject([{ index: 1, id: 'sample', entry: 'left-out' }])
})

test('18.1 ids and variables with the names of prototypes are only names', () => {
  const env = '{"__proto__": {"polluted": "1"}, "constructor": "1"}'
  const text = documentOf(
    entryWith({ id: 'constructor' }),
    entryWith({ distribution: { npx: { package: 'x', env: 0 } } }),
  )
  const { agents } = parseRegistry(text.replace('"env":0', `"env":${env}`))
  expect(agents.map(({ id }) => id)).toEqual(['constructor', 'sample'])
  expect(Object.entries(agents[1]?.distribution.npx?.env ?? {})).toEqual([['constructor', '1']])
  expect('polluted' in {}).toBe(false)
})

test('18.1 texts for people have one line, no terminal escapes and a bound', () => {
  const entry = entryOf({
    name: '\u001B[31mRed\u001B[0m\nAgent\u202E',
    description: 'x'.repeat(5_000),
    license: '\u001B]8;;https://evil.example\u0007MIT\u001B]8;;\u0007',
    authors: ['A\r\nB'],
  })
  expect(entry).toMatchObject({ name: 'Red Agent', license: 'MIT', authors: ['A B'] })
  expect(entry?.description).toHaveLength(1_000)
})

test.each([
  'javascript:alert(1)',
  'http://example.com/icon.svg',
  'https://user:word@example.com/',
  'data:image/svg+xml,x',
])('18.1 the link %s is left out, and the entry stays', (website) => {
  const { agents, problems } = parseRegistry(documentOf(entryWith({ website })))
  expect(agents[0]?.website).toBeUndefined()
  expect(problems).toMatchObject([{ entry: 'kept' }])
})

test('18 a registry elsewhere does not lead to a service of this machine, and one on this machine or a file may', () => {
  const own = { archive: 'http://127.0.0.1:7646/agent.zip', cmd: './agent' }
  const other = { archive: 'https://example.com/agent.zip', cmd: './agent' }
  const text = documentOf(entryWith({ distribution: { binary: { 'linux-x86_64': own, 'darwin-aarch64': other } } }))
  const platformsOf = (from?: string) =>
    Object.keys(
      parseRegistry(text, from === undefined ? undefined : new URL(from)).agents[0]?.distribution.binary ?? {},
    )
  expect(platformsOf('https://registry.example/')).toEqual(['darwin-aarch64'])
  expect(platformsOf('http://localhost:9/')).toEqual(['darwin-aarch64', 'linux-x86_64'])
  expect(platformsOf()).toEqual(['darwin-aarch64', 'linux-x86_64'])
  expect(parseRegistry(text, new URL('https://registry.example/')).problems).toMatchObject([
    { entry: 'kept', message: '`distribution.binary.linux-x86_64` leads to this machine and is left out.' },
  ])
})

test('18.1 an entry that is nested a million deep is left out', () => {
  const deep = `${'['.repeat(1e6)}${']'.repeat(1e6)}`
  const text = documentOf(entryWith({ more: 'DEEP' }), entryWith({ id: 'other' })).replace('"DEEP"', deep)
  const { agents, problems } = parseRegistry(text)
  expect([agents.map(({ id }) => id), problems.map(({ message }) => message)]).toEqual([
    ['other'],
    [expect.stringContaining('nested too deeply')],
  ])
})

test('18.1 an entry with a million members is left out, and a document of a million entries is refused', () => {
  const wide = Object.fromEntries(Array.from({ length: 1e6 }, (_, index) => [`k${index}`, 0]))
  const { agents, problems } = parseRegistry(documentOf(entryWith({ wide }), entryWith({ id: 'other' })))
  expect([agents.map(({ id }) => id), problems.length]).toEqual([['other'], 1])
  expect(() => parseRegistry(JSON.stringify({ version: '1.0.0', agents: Array(1e6).fill(0) }))).toThrow(
    'too many agents',
  )
})

test('18.1 a thousand bad entries make a hundred problems', () => {
  const messages = messagesOf(...Array.from({ length: 1_000 }, () => ({})))
  expect(messages).toHaveLength(100)
  expect(messages.at(-1)).toContain('900 more problems')
})

test.each([
  ['no JSON', '<html>log in</html>', 'not JSON'],
  ['an empty text', '', 'not JSON'],
  ['a list', '[]', 'another shape'],
  ['null', 'null', 'another shape'],
  ['no version', '{"agents": []}', 'does not know the version'],
  ['a version that is not known', '{"version": "2.0.0", "agents": []}', 'does not know the version'],
  ['agents that are an object', '{"version": "1.0.0", "agents": {}}', 'no list of agents'],
])('18.1 a document with %s is refused', (_what, text, reason) => {
  expect(() => parseRegistry(text)).toThrow(expect.objectContaining({ code: 'registry_invalid' }))
  expect(() => parseRegistry(text)).toThrow(reason)
})

test('18.1 a document of more than 50 MiB is refused before it is parsed', () => {
  expect(() => parseRegistry(' '.repeat(REGISTRY_BYTES_MAX + 1))).toThrow('too large')
})

test('18.1 the checksum of an entry changes with any part of it, and not with its form', () => {
  const [plain, other] = [entryOf({ preview: false }), entryOf({ preview: true })]
  const reversed = Object.fromEntries(Object.entries(entryWith({ preview: false })).toReversed())
  expect(parseRegistry(JSON.stringify({ version: '1.0.0', agents: [reversed] }, undefined, 3)).agents[0]?.sha256).toBe(
    plain?.sha256,
  )
  expect(other?.sha256).not.toBe(plain?.sha256)
})

const sample: readonly object[] = [
  ...(JSON.parse(SAMPLE_TEXT) as { readonly agents: readonly object[] }).agents,
  ...ENTRY_FACTS,
]
const step = fc.oneof(
  fc.constantFrom('id', 'name', 'version', 'description', 'distribution', 'npx', 'uvx', 'binary', 'package'),
  fc.constantFrom('cmd', 'args', 'env', 'archive', 'linux-x86_64', 'license', 'icon', '0', '__proto__', 'constructor'),
)
const HOSTILE = [
  '../..',
  '-x',
  '\u001B[2J',
  'a@b@c',
  '\u202Egnp',
  'x\n---\n',
  'http://127.0.0.1/',
  '__proto__',
  '${HOME}',
  '',
]
const junk = fc.oneof(
  { weight: 1, arbitrary: fc.jsonValue() },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  { weight: 4, arbitrary: fc.constantFrom(...HOSTILE) },
)

/** The paths of all members of a value. */
const pathsOf = (value: object): (readonly string[])[] =>
  Object.entries(value).flatMap(([key, member]: [string, unknown]) => [
    [key],
    ...(typeof member === 'object' && member !== null ? pathsOf(member).map((path) => [key, ...path]) : []),
  ])

/** The value with a member replaced, at a path that need not exist. */
function changed(value: unknown, [key, ...rest]: readonly string[], member: unknown): unknown {
  if (key === undefined) return member
  const copy: Record<string, unknown> = typeof value === 'object' ? { ...value } : {}
  Object.defineProperty(copy, key, { value: changed(copy[key], rest, member), enumerable: true, configurable: true })
  return copy
}

test('18.1 whatever is changed in entries: the rest is read, and what is read is a manifest or refused with a reason', () => {
  const mutation = fc.constantFrom(...sample).chain((entry) => {
    const path = fc.oneof(fc.constantFrom(...pathsOf(entry)), fc.array(step, { minLength: 1, maxLength: 4 }))
    return fc.tuple(fc.constant(entry), path, junk)
  })
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 5 }), (mutations) => {
      const changedOnes = mutations.map(([entry, path, member]) => changed(entry, path, member))
      const { agents, problems } = parseRegistry(documentOf(...changedOnes, entryWith({ id: 'untouched' })))
      expect(agents.some(({ id }) => id === 'untouched')).toBe(true)
      expect(new Set(agents.map(({ id }) => id)).size).toBe(agents.length)
      const leftOut = problems.filter(({ entry }) => entry === 'left-out').map(({ index }) => index)
      expect(agents.length + new Set(leftOut).size).toBe(changedOnes.length + 1)
      for (const { message } of problems) expect(message).toMatch(SENTENCE)
      for (const agent of agents) checkWays(agent)
    }),
    { numRuns: 300 },
  )
})

/** One line, without what a terminal would take for a command. */
const SENTENCE = /^[^\p{Cc}\p{Cf}]+\.$/u

function checkWays(agent: RegistryEntry): void {
  for (const distribution of waysOf(agent)) {
    const choice = distributionFor(
      { distribution },
      { os: 'linux', arch: 'x64' },
      { npm: true, uv: true, python: true },
    )
    for (const { reason } of choice.refused) expect(reason).toMatch(SENTENCE)
    if (choice.ok) checkManifest(agent, choice.distribution)
  }
}

/** It is valid, or an error that has problems; and no installer takes a part of it for an option. */
function checkManifest(agent: RegistryEntry, distribution: Distribution): void {
  try {
    const { slug, files } = manifestOf(agent, distribution, {
      source: { url: 'https://registry.example/' },
      addedAt: 0,
    })
    expect(slug).toBe(agent.id)
    const read = parseAgentCli(files.get('AGENT-CLI.md') ?? '', { path: 'AGENT-CLI.md' })
    if (!read.ok) throw new Error('The manifest is not valid')
    for (const method of read.manifest.install) {
      expect('package' in method ? method.package : '').not.toMatch(/^-|\s|[\p{Cc}]/u)
      expect('url' in method ? method.url : 'https:').toMatch(/^https:|^http:\/\/(?:localhost|127\.|\[::1\])/)
    }
  } catch (thrown) {
    if (!isAgentprotoError(thrown) || thrown.code !== 'manifest_invalid') throw thrown
  }
}
