import { expect, test } from 'vitest'
import { parseConfig } from '@agentproto/manifest'
import type { ManifestProblem } from '@agentproto/manifest'

const path = 'config.json'
const problemsOf = (text: string): readonly ManifestProblem[] => {
  const result = parseConfig(text, { path })
  return result.ok ? result.warnings : result.problems
}

test('a config.json with every key is accepted, and $schema is ignored', () => {
  const config = {
    sessions: { maxSessions: 2, requestTimeoutMs: 1000, interruptGraceMs: 1000, maxDurationMs: 0 },
    limits: { handshakeMs: 1000, openMs: 1000 },
    durability: 'disk',
    adapters: ['/srv/adapters', 'C:\\adapters'],
    bundledAdapters: false,
    executables: { claude: '/opt/claude' },
    environment: 'isolated',
    homes: 'isolated',
    sandbox: 'refuse',
    serve: { fs: true, terminal: true },
    listen: { host: '127.0.0.1', port: 0, allowRemote: false },
    sandboxProviders: { 'mastra-e2b': '/srv/e2b.mjs' },
    audit: false,
    allowedHosts: ['gateway.example'],
    allowedOrigins: ['https://app.example:8443'],
  }
  const text = JSON.stringify({ $schema: './config.schema.json', ...config }, null, '\t')
  expect(parseConfig(text, { path })).toEqual({ ok: true, manifest: config, warnings: [] })
  expect(parseConfig('{}', { path })).toEqual({ ok: true, manifest: {}, warnings: [] })
})

test('an unknown key is refused with its line, its column and a suggestion', () => {
  expect(problemsOf('{\n  "sesions": {}\n}\n')).toMatchObject([
    {
      code: 'key_unknown',
      message: 'The configuration has no key `sesions`.',
      line: 2,
      column: 3,
      file: path,
      suggestion: 'sessions',
    },
  ])
  expect(problemsOf('{\n  "sessions": { "maxSessions": 2, "maxSesions": 3 }\n}\n')).toMatchObject([
    { code: 'key_unknown', line: 2, column: 35, suggestion: 'maxSessions' },
  ])
})

test('all problems come at once', () => {
  const text = '{\n"durability": "dsik",\n"bundledAdapters": "yes",\n"adapters": ["here"],\n"allowedHosts": ["a b"]\n}'
  expect(problemsOf(text).map(({ code, line, suggestion }) => [code, line, suggestion])).toEqual([
    ['value_unknown', 2, 'disk'],
    ['type_mismatch', 3, 'true'],
    ['value_malformed', 4, undefined],
    ['value_malformed', 5, undefined],
  ])
})

test.each([
  ['an empty file', '', 'json_syntax'],
  ['a list', '[]', 'type_mismatch'],
  ['YAML that is not JSON', 'durability: disk', 'json_syntax'],
  ['a comment', '{\n# why\n"durability": "disk"\n}', 'json_syntax'],
  ['a trailing comma', '{"durability": "disk",}', 'json_syntax'],
  ['a key twice', '{"durability": "disk", "durability": "kernel"}', 'key_duplicate'],
  ['__proto__', '{"__proto__": {"polluted": true}}', 'key_forbidden'],
  ['an anchor', '{"adapters": &a ["/x"]}', 'json_syntax'],
  ['an open brace', '{"sessions": {', 'yaml_syntax'],
  ['deep nesting', '['.repeat(50_000), 'yaml_too_large'],
  ['a large file', ' '.repeat(70_000), 'file_too_large'],
] as const)('%s is a problem', (_, text, code) => {
  expect(problemsOf(text).map((problem) => problem.code)).toContain(code)
  expect({}).not.toHaveProperty('polluted')
})

test.each([{ keeper: true }, { keeper: false }, { keeper: { enabled: false } }, { keeper: { orphanMs: 60_000 } }])(
  '16.5 keeper is a boolean or an object: %j',
  (config) => {
    expect(parseConfig(JSON.stringify(config), { path })).toEqual({ ok: true, manifest: config, warnings: [] })
  },
)

test.each(['"yes"', '{ "orphanMs": -1 }', '{ "orphanMS": 1 }', '[]', 'null'])('16.5 keeper is not %s', (value) => {
  expect(problemsOf(`{ "keeper": ${value} }`)).toHaveLength(1)
})
