import { expect, test } from 'vitest'
import { type ManifestProblem, parseAgentCli, parseSecrets } from '@agentproto/manifest'
import { readAgentCli } from '@agentproto/manifest/node'
import { stringify } from 'yaml'
import { METADATA_KEYS } from '../src/metadata-rules.ts'
import { remedyFor } from '../src/yaml-remedy.ts'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DOCUMENTS } from './documents.js'
import { SAMPLE, sampleWith } from './sample.js'
import { tempFolder } from './temp-folder.js'

const problemsOf = (text: string): readonly ManifestProblem[] => {
  const result = parseAgentCli(text, { path: 'catalog/sample/AGENT-CLI.md' })
  return result.ok ? result.warnings : result.problems
}

/** The suggestions for a manifest with one line changed. */
const suggestions = (from: string, to: string): readonly unknown[] =>
  problemsOf(sampleWith(from, to)).map(({ suggestion }) => suggestion)

const DESCRIPTION = 'description: An agent for tests.'

test.each([
  ['a colon in a text', DESCRIPTION, 'description: An agent: for tests.', "description: 'An agent: for tests.'"],
  ['a reserved character', 'bin: sample-agent', 'bin: @sample/agent', "bin: '@sample/agent'"],
  ['a star', DESCRIPTION, 'description: *important', "'*important'"],
  ['an exclamation mark', DESCRIPTION, 'description: !important one', "description: '!important one'"],
  ['a range', 'range: ">=1.0.0 <3"', 'range: >=1.0.0 <3', "range: '>=1.0.0 <3'"],
  ['a bracket', DESCRIPTION, 'description: [beta] of an agent', "description: '[beta] of an agent'"],
  ['a list that was a text', DESCRIPTION, 'description: [beta]', "'[beta]'"],
  ['a template', 'range: ">=1.0.0 <3"', 'range: {value}', "'{value}'"],
  ['backslashes in double quotes', 'parse: (\\d+\\.\\d+\\.\\d+)', 'parse: "(\\d+)"', "parse: '(\\d+)'"],
  ['a quote in quotes', DESCRIPTION, "description: 'it's one'", "description: 'it''s one'"],
  ['quotes around a part', DESCRIPTION, 'description: "An" agent', `description: '"An" agent'`],
  ['no space after a colon', 'bin: sample-agent', 'bin:sample-agent', 'bin: sample-agent'],
  ['a version of two numbers', 'version: 1.2.3', 'version: 1.0', '1.0.0'],
  ['a version with a zero at its end', 'version: 1.2.3', 'version: 1.10', '1.10.0'],
  ['a version of one number', 'version: 1.2.3', 'version: v2', '2.0.0'],
  ['a value', 'protocol: acp', 'protocol: apc', 'acp'],
])('12.C7 %s: the remedy is written out', (_, from, to, remedy) => {
  expect(suggestions(from, to)).toContain(remedy)
})

test('12.C7 a dash without a space gets one, and a comment is never put into quotes', () => {
  expect(remedyFor('  -method: npm')).toBe('- method: npm')
  expect(remedyFor('bin: @x # the program')).toBeUndefined()
})

test('12.C7 a line that is wrong only beside its neighbours gets no quotes', () => {
  const problems = problemsOf(sampleWith('    package: "@sample/agent"', '   package: "@sample/agent"'))
  expect(problems).toMatchObject([{ code: 'yaml_syntax' }])
  expect(problems[0]).not.toHaveProperty('suggestion')
})

test('12.C7 no remedy shows a value of a SECRETS.md', () => {
  for (const value of ['@hunter2', '"hunter2\\d"', '12345678', '{hunter2}', '*hunter2', '!hunter2 x', 'a: hunter2']) {
    const text = `---\nsecrets:\n  - slug: a-key\n    name: Key\n    description: ${value}\n    kind: ${value}\n---\n`
    const result = parseSecrets(text, { path: 'SECRETS.md' })
    expect(JSON.stringify(result)).not.toMatch(/hunter2|12345678/)
  }
})

test('12.C7 a mistyped key or value of metadata.agentproto is reported with the nearest', () => {
  const metadata = (line: string) =>
    problemsOf(SAMPLE.replace(/metadata:\n(?: .*\n)*/, `metadata:\n  agentproto:\n    ${line}\n`))
  expect(metadata('proces: shared')).toMatchObject([
    { code: 'key_unknown', severity: 'warning', suggestion: 'process' },
  ])
  expect(metadata('process: shard')).toMatchObject([
    { code: 'value_unknown', severity: 'warning', suggestion: 'shared' },
  ])
  expect([metadata('process: shared'), metadata('of_somebody_else: 1')]).toEqual([[], []])
})

test('12.C7 docs/adapters.md has each key of metadata.agentproto, and no other', async () => {
  const page = await readFile(new URL('../../../docs/adapters.md', import.meta.url), 'utf8')
  const [, table = ''] = /## Keys in `metadata`\n([\s\S]*?)\nDetails:/.exec(page) ?? []
  expect([...table.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, key]) => key).toSorted()).toEqual(METADATA_KEYS.toSorted())
})

const md = (document: unknown): string => `---\n${stringify(document)}---\n`

test('12.C7 the errors of referenced files are reported together with those of the manifest', async () => {
  const root = await tempFolder({
    'sample/AGENT-CLI.md': sampleWith('auth:\n', 'auth:\n  ref: ./SECRETS.md\n').replace(
      'version: 1.2.3',
      'version: 1.0',
    ),
    'sample/ACP.md': md({ ...(DOCUMENTS.acp as object), kind: 'clientt' }),
    'sample/SECRETS.md': md({ secrets: [{ slug: 'x' }] }),
  })
  const result = await readAgentCli(join(root, 'sample'))
  const files = new Set(result.ok ? [] : result.problems.map(({ file }) => file.slice(root.length + 1)))
  expect([...files].toSorted()).toEqual(['sample/ACP.md', 'sample/AGENT-CLI.md', 'sample/SECRETS.md'])
})

test('12.C7 of a manifest with errors, only references that the schema allows are read', async () => {
  const root = await tempFolder({
    'sample/AGENT-CLI.md': sampleWith('acp: ./ACP.md', 'acp: ../private.txt'),
    'private.txt': '---\nhunter2: x\n---\n',
  })
  expect(JSON.stringify(await readAgentCli(join(root, 'sample')))).not.toContain('hunter2')
})
