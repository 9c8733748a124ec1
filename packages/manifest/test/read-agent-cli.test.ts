import { execFileSync } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { readAgentCli } from '@agentproto/manifest/node'
import { DOCUMENTS } from './documents.js'
import { SAMPLE, sampleWith } from './sample.js'
import { tempFolder } from './temp-folder.js'
import { needs } from '../../../tooling/needs.ts'

const md = (document: unknown): string => `---\n${stringify(document)}---\n`
const ACP = md(DOCUMENTS.acp)
const SECRETS = md(DOCUMENTS.secrets)
const SANDBOX = md(DOCUMENTS.sandbox)

const withSecrets = sampleWith('auth:\n', 'auth:\n  ref: ./SECRETS.md\n')

/** The codes with the file's name and line, in the order problemsIn. */
async function problemsIn(files: Readonly<Record<string, string | Uint8Array>>): Promise<readonly string[]> {
  const root = await tempFolder(files)
  const result = await readAgentCli(join(root, 'sample'))
  const problems = result.ok ? result.warnings : result.problems
  return problems.map(({ code, file, line }) => `${file.slice(root.length + 1)}:${line} ${code}`)
}

test('a folder and the file in it give the same result, with the files it refers to', async () => {
  const text = withSecrets.replace(/sandbox:\n(?: .*\n)+/, 'sandbox: ../shared/SANDBOX.md\n')
  const root = await tempFolder({
    'sample/AGENT-CLI.md': text,
    'sample/ACP.md': ACP,
    'sample/SECRETS.md': SECRETS,
    'shared/SANDBOX.md': SANDBOX,
  })
  const path = join(root, 'sample/AGENT-CLI.md')
  const result = await readAgentCli(join(root, 'sample'))
  expect(result).toEqual(await readAgentCli(path))
  expect(result).toMatchObject({
    ok: true,
    path,
    directory: join(root, 'sample'),
    manifest: { name: 'sample' },
    acp: {
      transports: ['stdio', 'websocket'],
      tier: 'sandboxed',
      agent: { loadSession: true, image: true, mcpSse: false },
    },
    secrets: {
      secrets: [
        { slug: 'team/sample-api-key', kind: 'opaque', variables: ['SAMPLE_API_KEY'] },
        { kind: 'oauth', variables: [] },
      ],
    },
    sandbox: {
      provider: 'mastra-e2b',
      limits: { memoryMb: 512 },
      env: { passthrough: ['LANG'], secretsRef: './SECRETS.md' },
    },
    warnings: [],
  })
})

test('an inline sandbox is the sandbox', async () => {
  const root = await tempFolder({ 'sample/AGENT-CLI.md': SAMPLE, 'sample/ACP.md': ACP })
  expect(await readAgentCli(join(root, 'sample'))).toMatchObject({
    ok: true,
    sandbox: { env: { set: { SAMPLE_TELEMETRY: '0' } } },
  })
})

test('a missing folder, an empty folder and a folder in place of the file are errors', async () => {
  const root = await tempFolder({ 'file.md': '' })
  await mkdir(join(root, 'odd/AGENT-CLI.md'), { recursive: true })
  for (const [path, message] of [
    [join(root, 'none'), 'There is no such file.'],
    [root, 'There is no such file.'],
    [join(root, 'odd'), 'This is a folder, not a file.'],
    [join(root, 'file.md/AGENT-CLI.md'), 'There is no such file.'],
  ] as const) {
    expect(await readAgentCli(path)).toMatchObject({
      ok: false,
      problems: [{ code: 'file_unreadable', message, line: 1, column: 1 }],
    })
  }
})

test('a reference to a missing file is reported at the reference', async () => {
  expect(await problemsIn({ 'sample/AGENT-CLI.md': withSecrets })).toEqual([
    'sample/AGENT-CLI.md:35 reference_missing',
    'sample/AGENT-CLI.md:56 reference_missing',
  ])
})

test('a reference to an invalid file is reported at the reference and in the file', async () => {
  expect(
    await problemsIn({ 'sample/AGENT-CLI.md': SAMPLE, 'sample/ACP.md': ACP.replace('kind: server', 'kind: srever') }),
  ).toEqual(['sample/AGENT-CLI.md:55 reference_invalid', 'sample/ACP.md:6 value_unknown'])
})

test('a warning in a referenced file is a warning', async () => {
  expect(
    await problemsIn({
      'sample/AGENT-CLI.md': SAMPLE,
      'sample/ACP.md': ACP.replace('    other:', '    othre: 1\n    other:').replace(
        'kind: server',
        'kind: server\ntransprot: x',
      ),
    }),
  ).toEqual(['sample/ACP.md:7 key_unknown'])
})

test('AIP-45: capabilities are a subset of what the ACP.md declares', async () => {
  const poor = ACP.replace('loadSession: true', 'loadSession: false').replace('image: true', 'image: false')
  const text = sampleWith('  resumable: true', '  resumable: true\n  multimodal: true')
  expect(await problemsIn({ 'sample/AGENT-CLI.md': text, 'sample/ACP.md': poor })).toEqual([
    'sample/AGENT-CLI.md:68 capability_undeclared',
    'sample/AGENT-CLI.md:69 capability_undeclared',
  ])
})

test('AIP-44: a tier stands for capabilities where none are declared', async () => {
  const tier = (name: string): string =>
    md({ ...(DOCUMENTS.acp as object), metadata: { aip44: { acp_rev: '0123abc', tier: name, sandbox: {} } } })
  expect(await problemsIn({ 'sample/AGENT-CLI.md': SAMPLE, 'sample/ACP.md': tier('governance-aware') })).toEqual([])
  expect(await problemsIn({ 'sample/AGENT-CLI.md': SAMPLE, 'sample/ACP.md': tier('basic') })).toEqual([
    'sample/AGENT-CLI.md:68 capability_undeclared',
  ])
})

test('AIP-29: secrets that setup steps name are declared, those of oauth steps as oauth', async () => {
  const steps =
    '  - id: sign-in\n    kind: oauth\n    secret_slug: team/sample-api-key\n  - id: again\n    kind: oauth\n    secret_slug: lgoin\nauth:\n'
  const text = withSecrets.replace('auth:\n', () => steps)
  expect(await problemsIn({ 'sample/AGENT-CLI.md': text, 'sample/ACP.md': ACP, 'sample/SECRETS.md': SECRETS })).toEqual(
    ['sample/AGENT-CLI.md:36 secret_undeclared', 'sample/AGENT-CLI.md:39 secret_undeclared'],
  )
})

test('a file that is not UTF-8 is an error with a position', async () => {
  const bytes = Buffer.concat([
    Buffer.from('---\nname: \ufffd x\nid: '),
    Buffer.from([0xff, 0xfe]),
    Buffer.from('\n---\n'),
  ])
  const root = await tempFolder({ 'sample/AGENT-CLI.md': bytes })
  expect(await readAgentCli(join(root, 'sample'))).toMatchObject({
    ok: false,
    problems: [{ code: 'encoding_invalid', line: 3, column: 5 }],
  })
})

test('a file that is far too large is not read', async () => {
  const root = await tempFolder({ 'sample/AGENT-CLI.md': Buffer.alloc(5 * 1024 * 1024, 'x') })
  expect(await readAgentCli(join(root, 'sample'))).toMatchObject({ ok: false, problems: [{ code: 'file_too_large' }] })
})

test('a RUNNER.md must exist and contain a mapping', async () => {
  const text = sampleWith('protocol: acp', 'runner: ./RUNNER.md\nprotocol: acp')
  const files = { 'sample/AGENT-CLI.md': text, 'sample/ACP.md': ACP }
  expect(await problemsIn(files)).toEqual(['sample/AGENT-CLI.md:54 reference_missing'])
  expect(await problemsIn({ ...files, 'sample/RUNNER.md': '# none' })).toEqual([
    'sample/AGENT-CLI.md:54 reference_invalid',
    'sample/RUNNER.md:1 front_matter_missing',
  ])
  expect(await problemsIn({ ...files, 'sample/RUNNER.md': md({ anything: 1 }) })).toEqual([])
})

test('12.C6 the limits of a runner count beside those of the sandbox, and what has no effect is said', async () => {
  const runner = { engine: 'sandbox', image: 'a', limits: { memory_mb: 256, cpu_ms: 900 } }
  const sandbox = 'sandbox:\n  provider: local\n'
  const limited = `${sandbox}  limits: { memory_mb: 512, timeout_ms: 1000, cpu_ms: 100 }\n`
  const read = async (line: string, files: Record<string, string> = {}) => {
    const text = sampleWith('protocol: acp', `${line}\nprotocol: acp`).replace(sandbox, limited)
    const root = await tempFolder({ 'sample/AGENT-CLI.md': text, 'sample/ACP.md': ACP, ...files })
    const result = await readAgentCli(join(root, 'sample'))
    if (!result.ok) throw new Error(JSON.stringify(result.problems))
    return result
  }
  const results = [
    await read(`runner: ${JSON.stringify(runner)}`),
    await read('runner: ./RUNNER.md', { 'sample/RUNNER.md': md(runner) }),
  ]
  for (const { sandbox: profile, warnings } of results) {
    expect(profile.limits).toEqual({ memoryMb: 256, timeoutMs: 1_000, cpuMs: 100 })
    expect(warnings.map(({ code }) => code)).toEqual(['block_ignored', 'block_ignored'])
  }
})

test('12.C3 the SECRETS.md of a sandbox is checked with the manifest', async () => {
  const text = sampleWith(
    'sandbox:\n  provider: local\n  env:\n',
    'sandbox:\n  provider: local\n  env:\n    auth: { ref: ./MORE.md }\n',
  )
  const files = { 'sample/AGENT-CLI.md': text, 'sample/ACP.md': ACP }
  expect(await problemsIn(files)).toEqual([expect.stringMatching(/^sample\/AGENT-CLI.md:\d+ reference_missing$/)])
  expect(await problemsIn({ ...files, 'sample/MORE.md': md({ secrets: [] }) })).toEqual([
    expect.stringMatching(/^sample\/AGENT-CLI.md:\d+ reference_invalid$/),
    'sample/MORE.md:2 value_too_short',
  ])
})

test('a missing referenced file is named with its full path', async () => {
  const root = await tempFolder({ 'sample/AGENT-CLI.md': SAMPLE })
  const result = await readAgentCli(join(root, 'sample'))
  expect(result.ok ? [] : result.problems).toMatchObject([
    { message: `\`acp\` names a file that does not exist: ${join(root, 'sample/ACP.md')}.`, given: './ACP.md' },
  ])
})

test('a device and a pipe in place of a file are errors within the time limit', needs('linux'), async () => {
  const root = await tempFolder({ 'sample/AGENT-CLI.md': SAMPLE })
  await symlink('/dev/zero', join(root, 'sample/ACP.md'))
  execFileSync('/usr/bin/env', ['mkfifo', join(root, 'pipe.md')])
  expect(await readAgentCli(join(root, 'sample'))).toMatchObject({
    ok: false,
    problems: [{ code: 'reference_invalid' }],
  })
  expect(await readAgentCli(join(root, 'pipe.md'))).toMatchObject({
    ok: false,
    problems: [{ code: 'file_unreadable', message: 'The file cannot be read (not a regular file).' }],
  })
})
