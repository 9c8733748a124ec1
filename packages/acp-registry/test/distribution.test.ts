import { expect, test } from 'vitest'
import { distributionFor, type InstallTools, parseRegistry } from '@agentproto/acp-registry'
import { documentOf, entryWith, sampleEntry } from './sample-registry.js'

const LINUX = { os: 'linux', arch: 'x64' } as const
const ALL: InstallTools = { npm: true, uv: true, python: true }
const NONE: InstallTools = { npm: false, uv: false, python: false }

const chosen = (distribution: object, tools: InstallTools = ALL) => {
  const [entry] = parseRegistry(documentOf(entryWith({ distribution }))).agents
  if (entry === undefined) throw new Error('The entry was left out')
  return distributionFor(entry, LINUX, tools)
}
const npm = (spec: string, more: object = {}) => chosen({ npx: { package: spec, ...more } })
const python = (spec: string, more: object = {}) => chosen({ uvx: { package: spec, ...more } })
const binary = (archive: string, cmd = './agent', more: object = {}) =>
  chosen({ binary: { 'linux-x86_64': { archive, cmd, ...more } } })
const file = (name: string) => binary(`https://example.com/${name}`)

test.each([
  ['sample@1.2.3', { name: 'sample', version: '1.2.3' }],
  ['@scope/sample@1.2.3-beta.1', { name: '@scope/sample', version: '1.2.3-beta.1' }],
  ['@scope/sample@latest', { name: '@scope/sample' }],
  ['sample', { name: 'sample' }],
  ['sample@next', { name: 'sample', wanted: 'next' }],
  ['sample@^1.2', { name: 'sample', wanted: '^1.2' }],
  ['sample@1.18.31.1', { name: 'sample', wanted: '1.18.31.1' }],
])('18.2 the npm package %s', (spec, parts) => {
  expect(npm(spec)).toEqual({ ok: true, refused: [], distribution: { way: 'npx', ...parts, args: [], env: {} } })
})

test.each([
  'git+https://example.com/x.git',
  'https://example.com/x.tgz',
  'file:../x',
  '../x',
  '/etc/x',
  'user/repository',
  'x@npm:other@1.0.0',
  'x@file:../y',
  '--registry=https://evil.example',
  '-g',
  'x y',
  '@scope',
  'x@ --global',
  'x@-g',
  // npm takes a name with such an end for a file of the folder that it runs in.
  'x.tgz',
  'x.tar@1.0.0',
  '@scope/x.tar.gz',
])('18.2 %j is no package of the npm registry', (spec) => {
  expect(npm(spec)).toMatchObject({ ok: false, refused: [{ way: 'npx' }] })
})

test.each([
  ['sample@1.2.3', { name: 'sample', version: '1.2.3', program: 'sample' }],
  ['sample==1.2.3', { name: 'sample', version: '1.2.3', program: 'sample' }],
  ['sample[acp,mcp]==1.2.3rc1', { name: 'sample[acp,mcp]', version: '1.2.3rc1', program: 'sample' }],
  ['sample@latest', { name: 'sample', program: 'sample' }],
  ['sample', { name: 'sample', program: 'sample' }],
  ['sample>=1.2,<2', { name: 'sample', wanted: '>=1.2,<2', program: 'sample' }],
])('18.2 the Python package %s', (spec, parts) => {
  expect(python(spec)).toEqual({ ok: true, refused: [], distribution: { way: 'uvx', ...parts, args: [], env: {} } })
})

test.each([
  'git+https://example.com/x.git',
  'x @ https://example.com/x.whl',
  './x',
  '-r requirements.txt',
  '--index-url=https://evil.example',
  'x==1 --index-url https://evil.example',
  'x; python_version<"3"',
  'x@https://example.com/x.whl',
  // pip takes a name with such an end for a file of the folder that it runs in.
  'x-1.0-py3-none-any.whl',
  'x.tar.gz',
  'x.zip[acp]==1.0',
])('18.2 %j is no package of PyPI', (spec) => {
  expect(python(spec)).toMatchObject({ ok: false, refused: [{ way: 'uvx' }] })
})

test('18.2 a program that is named is started, with the arguments that stand behind it', () => {
  expect(npm('sample', { cmd: 'sample-acp --quiet', args: ['serve'] })).toMatchObject({
    distribution: { program: 'sample-acp', args: ['--quiet', 'serve'] },
  })
  expect(python('sample', { cmd: 'other' })).toMatchObject({ distribution: { program: 'other' } })
  for (const cmd of ['../x', '/bin/sh', '-c', 'a;b'])
    for (const choice of [npm('sample', { cmd }), python('sample', { cmd })]) expect(choice.ok).toBe(false)
})

test.each([
  ['agent.zip', 'zip'],
  ['agent.tar.gz', 'tar.gz'],
  ['Agent.TGZ', 'tar.gz'],
  ['agent.tar.bz2', 'tar.bz2'],
  ['agent.tbz2', 'tar.bz2'],
  ['agent.tar.xz', 'tar.xz'],
  ['agent-v1.2-linux-x64', 'raw'],
  ['agent.exe', 'raw'],
  ['download?file=agent.zip', 'raw'],
])('18.2 the name %s is the form %s', (name, format) => {
  expect(file(name)).toMatchObject({ ok: true, distribution: { way: 'binary', format, program: 'agent' } })
})

test.each(['Agent%20CLI.dmg', 'agent.msi', 'agent.pkg', 'agent.deb', 'agent.rpm', 'agent.AppImage', 'agent.7z'])(
  '18.2 %s is refused as not supported',
  (name) => {
    const choice = file(name)
    expect(choice.ok).toBe(false)
    expect(choice.refused[0]?.reason).toContain('not supported')
  },
)

test.each([
  ['./bin/agent', 'bin/agent'],
  ['bin//./agent', 'bin/agent'],
  ['.\\bin\\agent.exe', 'bin/agent.exe'],
  ['./coco-1.0+5/cortex acp', 'coco-1.0+5/cortex'],
])('18.2 the command %j is the file %s of the archive', (cmd, program) => {
  expect(binary('https://example.com/a.zip', cmd)).toMatchObject({ ok: true, distribution: { program } })
})

test.each(['../agent', 'a/../../b', '/bin/sh', 'C:\\agent.exe', '..\\agent', '.', './', ' ', '-c', 'bin/-x'])(
  '18.2 the command %j is no file of the archive',
  (cmd) => {
    expect(binary('https://example.com/a.zip', cmd)).toMatchObject({ ok: false, refused: [{ way: 'binary' }] })
  },
)

test.each(['http://example.com/a.zip', 'ftp://example.com/a.zip', 'file:///a.zip', 'https://a:b@example.com/a.zip'])(
  '18.2 nothing is downloaded from %s',
  (archive) => {
    expect(binary(archive).ok).toBe(false)
  },
)

test('18.2 a package comes before a file, and each way that cannot be used here says why', () => {
  expect(distributionFor(sampleEntry('kilo'), LINUX, ALL)).toMatchObject({ distribution: { way: 'npx' }, refused: [] })
  expect(distributionFor(sampleEntry('kilo'), LINUX, NONE)).toMatchObject({
    distribution: { way: 'binary' },
    refused: [{ way: 'npx', reason: 'There is no npm on PATH.' }],
  })
  expect(distributionFor(sampleEntry('gptme'), LINUX, NONE)).toEqual({
    ok: false,
    refused: [{ way: 'uvx', reason: 'There is neither uv nor Python on PATH.' }],
  })
  expect(distributionFor(sampleEntry('goose'), { os: 'darwin', arch: 'arm64' }, ALL)).toEqual({
    ok: false,
    refused: [{ way: 'binary', reason: 'There is no file for darwin on arm64, only for linux-x86_64.' }],
  })
  expect(distributionFor(sampleEntry('goose'), { os: 'freebsd', arch: 'riscv64' }, ALL).ok).toBe(false)
  expect(chosen({ docker: {} })).toEqual({ ok: false, refused: [] })
})

test('18.2 each entry of the sample can be installed on Linux', () => {
  for (const id of ['auggie', 'goose', 'oh-my-pi', 'kiro', 'cortex-code', 'fast-agent', 'minion-code', 'stdio-bus'])
    expect(distributionFor(sampleEntry(id), LINUX, ALL).ok).toBe(true)
  expect(distributionFor(sampleEntry('kiro'), LINUX, ALL)).toMatchObject({
    distribution: { program: 'kirocli/bin/kiro-cli', args: ['acp'] },
  })
})
