import { parseAcp, parseAgentCli, parseRunner, parseSandbox, parseSecrets } from '@agentproto/manifest'
import type { ManifestProblem, ParseOptions, ParseResult } from '@agentproto/manifest'
import { expect, test } from 'vitest'
import { SAMPLE, sampleWith } from './sample.js'

const path = 'sample/AGENT-CLI.md'
const problemsOf = (result: ParseResult<unknown>): readonly ManifestProblem[] =>
  result.ok ? result.warnings : result.problems
const errorsOf = (text: string): readonly string[] =>
  problemsOf(parseAgentCli(text, { path })).flatMap(({ severity, code }) => (severity === 'error' ? [code] : []))

/** The sample with another inline sandbox, in braces. */
const withSandbox = (sandbox: string): string => SAMPLE.replace(/sandbox:\n(?: .*\n)+/, () => `sandbox: ${sandbox}\n`)

test.each([
  ['a key of a block without the block', '{provider: local, egress: []}', ['key_unknown']],
  ['a shorter name of a block', '{provider: local, net: {egress: []}}', ['key_unknown']],
  ['another case', '{provider: local, Network: {egress: []}}', ['key_unknown']],
  ['camel case', '{provider: local, readOnly: true}', ['key_unknown']],
  ['a block below config', '{provider: local, config: {network: {egress: []}}}', ['key_unknown']],
  ['the same with node-permission', '{provider: node-permission, config: {fs: {deny: ["**"]}}}', ['key_unknown']],
  ['an empty block', '{provider: local, network: }', ['type_mismatch']],
  ['a merge key', '{provider: local, <<: {network: {egress: []}}}', ['key_forbidden']],
  ['a quoted merge key', '{provider: local, "<<": {network: {egress: []}}}', ['key_forbidden']],
  ['a tagged merge key', '{provider: local, !!merge <<: {network: {egress: []}}}', ['yaml_tag', 'key_forbidden']],
  ['a merge key of metadata', '{provider: local, metadata: {<<: {a: 1}}}', ['key_forbidden']],
])('12.C1 a sandbox with %s is refused, not unconfined', (_, sandbox, codes) => {
  expect(errorsOf(withSandbox(sandbox))).toEqual(codes)
})

test.each([
  '{provider: local}',
  '{provider: local, config: {cwd: /work, shell: true}, network: {egress: []}}',
  '{provider: mastra-e2b, config: {template: base}}',
  '{schema: sandbox/v1, id: "@a/b", version: 1.0.0, name: a, description: b, provider: local}',
])('12.C1 the sandbox %s is accepted', (sandbox) => {
  expect(errorsOf(withSandbox(sandbox))).toEqual([])
})

test('12.C1 an unknown key of a SANDBOX.md is an error', () => {
  const text = '---\nschema: sandbox/v1\nid: "@a/b"\nversion: 1.0.0\nprovider: local\nconfig: {}\negress: []\n---\n'
  expect(problemsOf(parseSandbox(text, { path }))).toMatchObject([{ code: 'key_unknown', severity: 'error', line: 7 }])
})

test.each<[string, (text: string, options: ParseOptions) => ParseResult<unknown>]>([
  ['AGENT-CLI.md', parseAgentCli],
  ['ACP.md', parseAcp],
  ['SECRETS.md', parseSecrets],
  ['SANDBOX.md', parseSandbox],
  ['RUNNER.md', parseRunner],
])('12.C1 a merge key is an error in a %s', (_, parse) => {
  const codes = problemsOf(parse('---\na: &a {b: 1}\n<<: *a\n---\n', { path })).map(({ code, line }) => [code, line])
  expect(codes).toContainEqual(['key_forbidden', 3])
})

test('12.C1 mounts that are empty confine all the same', () => {
  const parsed = parseAgentCli(withSandbox('{provider: local, mounts: []}'), { path })
  expect(parsed.ok && parsed.manifest.sandbox).toMatchObject({ profile: { fs: { read: [], write: [], deny: [] } } })
})

test.each([
  ['a variable of the sandbox', 'SAMPLE_TELEMETRY: "0"', 'SAMPLE_API_KEY: hunter2-hunter2'],
  ['a variable in lower case', 'SAMPLE_TELEMETRY: "0"', 'sample_password: hunter2-hunter2'],
  ['a variable with more words', 'SAMPLE_TELEMETRY: "0"', 'SAMPLE_TOKEN_PROD: hunter2-hunter2'],
  ['a known form of key', 'SAMPLE_TELEMETRY: "0"', 'SAMPLE_A: sk-hunter2hunter2hunter2hunter2'],
  ['a password in a URL', 'SAMPLE_TELEMETRY: "0"', 'SAMPLE_URL: https://me:hunter2@sample.example'],
  ['a variable of a mode', 'SAMPLE_PLAN: "1"', 'SAMPLE_TOKEN: hunter2-hunter2'],
  ['a variable of an option', 'SAMPLE_PERSONA: "{value}"', 'SAMPLE_TOKEN: hunter2-hunter2'],
])('12.C1 a credential in %s is refused, and not shown', (_, from, to) => {
  const text = sampleWith(from, to)
  expect(errorsOf(text)).toEqual(['secret_in_manifest'])
  expect(JSON.stringify(problemsOf(parseAgentCli(text, { path })))).not.toContain('hunter2')
})

test.each([
  'API_KEY_HELPER: /bin/key',
  'SECRET_STORE: keychain',
  'SAMPLE_USE_TOKEN: "true"',
  'TOKEN_CACHE_DIR: ~/.x',
  'SAMPLE_TOKEN: ""',
  'MAX_TOKENS: "8192"',
])('12.C1 %s is no credential', (to) => expect(errorsOf(sampleWith('SAMPLE_TELEMETRY: "0"', to))).toEqual([]))

test.each([
  ['a secret prompt', 'type: select\n    options: [eu, us]', 'type: secret\n    default: hunter2-hunter2'],
  ['a secret prompt that is short', 'type: select\n    options: [eu, us]', 'type: secret\n    default: none'],
  ['a secret prompt that is a number', 'type: select\n    options: [eu, us]', 'type: secret\n    default: 1234'],
  [
    'a prompt that is kept as a secret',
    'type: select\n    options: [eu, us]\n    persist:\n      env: SAMPLE_REGION',
    'default: hunter2-hunter2\n    persist:\n      secret_slug: sample-key',
  ],
  [
    'a prompt with the name of a secret',
    'id: region\n    kind: prompt\n    prompt: Which region?\n    type: select\n    options: [eu, us]',
    'id: api-key\n    kind: prompt\n    prompt: Which?\n    default: hunter2-hunter2',
  ],
  [
    'an option with the name of a secret',
    'id: persona\n    type: string\n    default: plain',
    'id: api_key\n    type: string\n    default: hunter2-hunter2',
  ],
])('12.C1 the default of %s is refused, and not shown', (_, from, to) => {
  const text = sampleWith(from, to)
  expect(errorsOf(text)).toContain('secret_in_manifest')
  expect(JSON.stringify(problemsOf(parseAgentCli(text, { path })))).not.toContain('hunter2')
})

test.each(['!!merge <<', '!!timestamp 2001-12-14', '!!binary aGk=', '!!set {a, b}', '!!omap [a: 1]'])(
  '12.C4 the value %s is a problem at its place and nothing is thrown',
  (value) => {
    for (const field of ['description', 'metadata']) {
      const text =
        field === 'metadata'
          ? SAMPLE.replace(/metadata:\n(?: .*\n)+/, `metadata: ${value}\n`)
          : sampleWith('description: An agent for tests.', `description: ${value}`)
      expect(problemsOf(parseAgentCli(text, { path }))).toContainEqual(
        expect.objectContaining({ code: 'yaml_tag', severity: 'error' }),
      )
    }
  },
)

test('12.C4 a mapping with the name of a method, anywhere, is a problem, and nothing is thrown', () => {
  const odd = ['{toString: 1, valueOf: 2}', '[{toString: 1}]', '[[{toString: 1}]]', '{a: {toString: 1}}']
  const lines = SAMPLE.split('\n').slice(0, SAMPLE.split('\n').indexOf('---', 1))
  const places = lines.flatMap((line, index) => {
    const key = /^\s*(?:- )?\w+:/.exec(line)?.[0]
    return key === undefined ? [] : odd.map((value) => lines.toSpliced(index, 1, `${key} ${value}`))
  })
  const accepted = places.filter((changed) => parseAgentCli([...changed, '---', ''].join('\n'), { path }).ok)
  // Only below `metadata` may be anything.
  const changedLines = accepted.map(
    (changed) =>
      changed
        .find((line, index) => line !== lines[index])
        ?.trim()
        .split(':')[0],
  )
  expect(new Set(changedLines)).toEqual(new Set(['verified']))
  expect(places.length).toBeGreaterThan(200)
})
