import { expect, test } from 'vitest'
import { parseAgentCli } from '@agentproto/manifest'
import type { AgentCliManifest, ManifestProblem } from '@agentproto/manifest'
import { SAMPLE, sampleWith } from './sample.js'

const path = 'catalog/sample/AGENT-CLI.md'

const parsed = (text: string): AgentCliManifest => {
  const result = parseAgentCli(text, { path })
  if (!result.ok) throw new Error(JSON.stringify(result.problems, null, 2))
  return result.manifest
}

const problemsOf = (text: string): readonly ManifestProblem[] => {
  const result = parseAgentCli(text, { path })
  return result.ok ? result.warnings : result.problems
}

test('a whole manifest is accepted without a warning', () => {
  expect(problemsOf(SAMPLE)).toEqual([])
})

test('defaults are filled in', () => {
  const minimal = `---
name: sample
id: sample
description: d
version: 1.0.0
bin: sample
install: [{ method: npm, package: sample }]
version_check: { cmd: sample --version, parse: "(.+)", range: "*" }
sandbox: ./SANDBOX.md
protocol: acp
acp: ./ACP.md
---
`
  expect(parsed(minimal)).toEqual({
    name: 'sample',
    id: 'sample',
    description: 'd',
    version: '1.0.0',
    bin: 'sample',
    binArgs: [],
    install: [{ method: 'npm', experimental: false, package: 'sample', global: false }],
    versionCheck: { cmd: 'sample --version', parse: '(.+)', range: '*', timeoutMs: 5000 },
    requires: {},
    setup: [],
    sandbox: { from: 'file', path: './SANDBOX.md' },
    session: { mode: 'ephemeral', contextCarryover: true },
    models: { env: {} },
    capabilities: {
      streaming: false,
      toolCalls: false,
      subAgents: false,
      fileIo: false,
      multimodal: false,
      resumable: false,
      bidirectional: false,
    },
    modes: [],
    options: [],
    examples: [],
    tags: [],
    metadata: {},
    protocol: 'acp',
    acp: './ACP.md',
  })
})

test('a problem says where it is, what was expected and given, and what to write', () => {
  expect(problemsOf(sampleWith('  mode: resumable', '  mode: resumeable'))).toEqual([
    {
      code: 'value_unknown',
      severity: 'error',
      message: '`session.mode` has a value that is not allowed.',
      file: path,
      line: 57,
      column: 9,
      excerpt: '  mode: resumeable',
      expected: 'one of ephemeral, persistent, resumable',
      given: 'resumeable',
      suggestion: 'resumable',
    },
  ])
})

test('all problems come at once, in the order of the file', () => {
  const text = sampleWith('version: 1.2.3', 'version: 1.0')
    .replace('cmd: sample-agent --version', 'comand: x')
    .replace('PT12H', '12h')
  expect(problemsOf(text).map(({ code, line, column }) => [code, line, column])).toEqual([
    ['type_mismatch', 5, 10],
    ['key_missing', 14, 1],
    ['key_unknown', 15, 3],
    ['value_malformed', 43, 12],
  ])
})
