import { expect, test } from 'vitest'
import { parseAgentCli } from '@agentproto/manifest'
import type { ManifestProblem } from '@agentproto/manifest'
import { SAMPLE, sampleWith } from './sample.js'

const path = 'catalog/sample/AGENT-CLI.md'

const problemsOf = (text: string): readonly ManifestProblem[] => {
  const result = parseAgentCli(text, { path })
  return result.ok ? result.warnings : result.problems
}

/** Line of the text that begins a line of the changed sample, and its column after the indent. */
function placeOf(text: string, needle: string): readonly [number, number] {
  const offset = text.indexOf(needle)
  const before = text.slice(0, offset).split('\n')
  return [before.length, (before.at(-1)?.length ?? 0) + 1]
}

/** [what is broken, from, to, code, severity, the text at whose beginning the problem is] */
type Case = readonly [name: string, from: string, to: string, code: string, severity: string, at: string]

const cases: readonly Case[] = [
  // AIP-45 Conformance 1: the schema.
  ['a missing key', 'bin: sample-agent\n', '', 'key_missing', 'error', 'name: sample'],
  ['a misspelt key', 'version_check:', 'version_chekc:', 'key_unknown', 'error', 'version_chekc'],
  ['an unknown key', 'tags:', 'labels: x\ntags:', 'key_unknown', 'error', 'labels'],
  ['a number for a text', 'name: sample\n', 'name: 12\n', 'type_mismatch', 'error', '12'],
  ['a text for a list', 'bin_args: [acp]', 'bin_args: acp', 'type_mismatch', 'error', 'acp\ninstall'],
  ['an empty description', 'description: An agent for tests.', 'description: ""', 'value_too_short', 'error', '""'],
  ['a short id', 'id: sample-agent', 'id: S', 'value_malformed', 'error', 'S\n'],
  ['an invalid version', 'version: 1.2.3', 'version: v1', 'value_malformed', 'error', 'v1'],
  [
    'a bin with arguments',
    'bin: sample-agent',
    'bin: sample-agent acp',
    'value_malformed',
    'error',
    'sample-agent acp',
  ],
  [
    'a timeout below its bound',
    'idle_timeout_ms: 900000',
    'idle_timeout_ms: 10',
    'value_out_of_range',
    'error',
    '10\nmodels',
  ],
  ['a tag given twice', 'tags: [sample, test]', 'tags: [sample, sample]', 'item_duplicate', 'error', 'sample]'],
  ['an empty install', 'tags:', 'tags: []\nexamples2:', 'key_unknown', 'error', 'examples2'],
  // Conformance 2: AIP-29's blocks.
  ['an unknown install method', 'method: npm', 'method: nmp', 'value_unknown', 'error', 'nmp'],
  ['an install method without its key', '    package: "@sample/agent"\n', '', 'key_missing', 'error', 'method: npm'],
  [
    'a key of another install method',
    '    url: https',
    '    package: x\n    url: https',
    'key_unknown',
    'error',
    'package: x',
  ],
  [
    'a checksum in capitals',
    '0123456789abcdef\n',
    '0123456789ABCDEF\n',
    'value_malformed',
    'error',
    '0123456789abcdef0',
  ],
  ['an invalid URL', 'https://sample.example/install.sh', 'install.sh', 'value_malformed', 'error', 'install.sh'],
  ['an invalid range', '">=1.0.0 <3"', '"latest please"', 'range_invalid', 'error', '"latest please"'],
  ['an invalid regular expression', 'parse: (\\d+', 'parse: ((\\d+', 'regex_invalid', 'error', '((\\d+'],
  [
    'a regular expression without a group',
    'parse: (\\d+\\.\\d+\\.\\d+)',
    'parse: \\d+',
    'regex_invalid',
    'error',
    '\\d+\n',
  ],
  [
    'a regular expression that kills V8',
    'parse: (\\d+\\.\\d+\\.\\d+)',
    'parse: (((a{1,999}){1,999}){1,999})',
    'regex_invalid',
    'error',
    '(((a{',
  ],
  ['a repeated repetition', 'parse: (\\d+\\.\\d+\\.\\d+)', 'parse: (\\d+)+x', 'regex_slow', 'warning', '(\\d+)+x'],
  ['an unknown operating system', '[linux, darwin]', '[linux, macos]', 'value_unknown', 'error', 'macos'],
  ['an invalid duration', 'every: PT12H', 'every: P', 'value_malformed', 'error', 'P\n'],
  ['an invalid expiry', 'exit_code:41', 'exit_code 41', 'value_malformed', 'error', 'exit_code 41'],
  ['a setup step twice', '- id: daemon', '- id: region', 'id_duplicate', 'error', 'region\n    kind: cmd'],
  ['an unknown kind of step', 'kind: cmd', 'kind: command', 'value_unknown', 'error', 'command'],
  ['a select without options', '    options: [eu, us]\n', '', 'step_incomplete', 'error', 'select'],
  [
    'a default that is not an option',
    '[eu, us]\n',
    '[eu, us]\n    default: uk\n',
    'option_default_invalid',
    'error',
    'uk',
  ],
  [
    'an input that no step asks for',
    '${input.region}',
    '${input.regoin}',
    'step_reference_unknown',
    'error',
    'sample-agent daemon install',
  ],
  [
    'a persist with two goals',
    'env: SAMPLE_REGION',
    'env: SAMPLE_REGION\n      cmd: x',
    'value_too_long',
    'error',
    'env: SAMPLE_REGION',
  ],
  // Conformance 3–5: the protocol.
  ['an unknown protocol', 'protocol: acp', 'protocol: a2a', 'protocol_unsupported', 'error', 'a2a'],
  ['acp without its reference', 'acp: ./ACP.md\n', '', 'key_missing', 'error', 'protocol: acp'],
  ['mcp without its block', 'protocol: acp\nacp: ./ACP.md', 'protocol: mcp', 'key_missing', 'error', 'protocol: mcp'],
  [
    'proprietary without its adapter',
    'protocol: acp\nacp: ./ACP.md',
    'protocol: proprietary',
    'key_missing',
    'error',
    'protocol: prop',
  ],
  [
    'an adapter that is no package',
    'protocol: acp\nacp: ./ACP.md',
    'protocol: proprietary\nadapter: "@X y"',
    'value_malformed',
    'error',
    '"@X y"',
  ],
  [
    'mcp over http without a url',
    'protocol: acp\nacp: ./ACP.md',
    'protocol: mcp\nmcp: { transport: http }',
    'mcp_incomplete',
    'error',
    'http }',
  ],
  [
    'a block of another protocol',
    'acp: ./ACP.md',
    'acp: ./ACP.md\nadapter: x',
    'block_ignored',
    'warning',
    'adapter: x',
  ],
  ['an absolute reference', 'acp: ./ACP.md', 'acp: /etc/passwd', 'value_malformed', 'error', '/etc/passwd'],
  [
    '12.C8 a system that no install method works on',
    '- method: npm\n    package: "@sample/agent"\n  - method: curl\n    url: https://sample.example/install.sh\n    verify_sha256: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
    '- method: apt\n    package: sample',
    'install_missing',
    'warning',
    'darwin]',
  ],
  // Conformance 6: modes.
  ['a mode twice', '- id: plan', '- id: default', 'id_duplicate', 'error', 'default\n    description: Plans'],
  ['a mode id with a space', '- id: plan', '- id: Plan B', 'value_malformed', 'error', 'Plan B'],
  [
    'a mode that patches something else',
    '    bin_args_append: ["--perm',
    '    bin: x\n    bin_args_append: ["--perm',
    'key_unknown',
    'error',
    'bin: x',
  ],
  [
    'a secret in argv',
    'id: persona\n    type: string\n    default: plain',
    'id: service_token\n    type: string\n    bin_args_template: ["--token", "{value}"]',
    'secret_in_argv',
    'error',
    '"{value}"]\n    env',
  ],
  ['a secret in a mode', 'SAMPLE_PLAN: "1"', 'SAMPLE_TOKEN: hunter2', 'secret_in_manifest', 'error', 'hunter2'],
  ['an invalid name of a variable', 'SAMPLE_PLAN: "1"', 'SAMPLE-PLAN: "1"', 'value_malformed', 'error', 'SAMPLE-PLAN'],
  ['a number as a variable', 'SAMPLE_PLAN: "1"', 'SAMPLE_PLAN: 1', 'type_mismatch', 'error', '1\noptions'],
  // Conformance 7: options.
  ['an option twice', '- id: auto', '- id: model', 'id_duplicate', 'error', 'model\n    type: boolean'],
  ['an option id with a hyphen', '- id: max_turns', '- id: max-turns', 'value_malformed', 'error', 'max-turns\n'],
  [
    'an enum without its list',
    '    enum: [sample-large, sample-small]\n',
    '',
    'option_incomplete',
    'error',
    'enum\n    default',
  ],
  [
    'a list for another type than enum',
    '    min: 1\n',
    '    min: 1\n    enum: [a]\n',
    'key_unknown',
    'error',
    'enum: [a]',
  ],
  ['bounds for a text', '    default: plain', '    default: plain\n    max: 3', 'key_unknown', 'error', 'max: 3'],
  [
    'a flag for a number',
    '    min: 1\n',
    '    min: 1\n    bin_args_append_when_true: ["-x"]\n',
    'key_unknown',
    'error',
    'bin_args_append_when_true: ["-x"]',
  ],
  ['bounds the wrong way round', 'max: 200', 'max: 0', 'bounds_reversed', 'error', '0\n    bin_args_template'],
  [
    'a default out of bounds',
    '    min: 1\n',
    '    min: 1\n    default: 0\n',
    'option_default_invalid',
    'error',
    '0\n    max',
  ],
  ['a default of the wrong type', 'default: plain', 'default: 3', 'option_default_invalid', 'error', '3\n    env'],
  [
    'a default outside the enum',
    '    default: sample-large\n    bin',
    '    default: sample-larg\n    bin',
    'option_default_invalid',
    'error',
    'sample-larg\n',
  ],
  [
    'an option that does nothing',
    '    bin_args_append_when_true: ["--auto"]\n',
    '',
    'option_without_effect',
    'warning',
    'id: auto',
  ],
  [
    'a template without a value',
    '"--max-turns={value}"',
    '"--max-turns"',
    'option_without_effect',
    'warning',
    'id: max_turns',
  ],
  // Conformance 8: continuation.
  [
    'a continuation that is not supported',
    'default: pinned-session',
    'default: transcript',
    'continuation_default_unsupported',
    'error',
    'transcript',
  ],
  [
    'an unknown strategy',
    '[pinned-session, native-resume, none]',
    '[pinned-session, pined]',
    'value_unknown',
    'error',
    'pined',
  ],
  // What the prose adds.
  ['a name that is not the folder’s', 'name: sample\n', 'name: simple\n', 'name_mismatch', 'error', 'simple'],
  [
    'a resumable session without the capability',
    '  resumable: true',
    '  resumable: false',
    'capability_required',
    'error',
    'resumable\n  idle',
  ],
  [
    'a default model that is not allowed',
    'default: sample-large\n  allowed',
    'default: sample-huge\n  allowed',
    'model_not_allowed',
    'error',
    'sample-huge',
  ],
  ['an unknown sandbox provider', 'provider: local', 'provider: lokal', 'sandbox_provider_unknown', 'error', 'lokal'],
  ['a misspelt sandbox key', '  network:', '  netwrok:', 'key_unknown', 'error', 'netwrok'],
  ['an invalid host', '"*.sample.example"', '"https://x"', 'value_malformed', 'error', '"https://x"'],
  [
    'a secret in the sandbox',
    'SAMPLE_TELEMETRY: "0"',
    'SAMPLE_API_KEY: hunter2',
    'secret_in_manifest',
    'error',
    'hunter2',
  ],
]

test.each(cases)('%s is reported at its position', (_, from, to, code, severity, at) => {
  const text = sampleWith(from, to)
  const [line, column] = placeOf(text, at)
  expect(problemsOf(text)).toContainEqual(expect.objectContaining({ code, severity, line, column }))
})

test('every case breaks the sample in one way only', () => {
  const several = cases.flatMap(([name, from, to]) => {
    const errors = problemsOf(sampleWith(from, to)).filter((problem) => problem.severity === 'error')
    return errors.length > 1 ? [`${name}: ${errors.map((problem) => problem.code).join(', ')}`] : []
  })
  expect(several).toEqual([])
})

test('native-resume as the default needs the capability', () => {
  const text = sampleWith('default: pinned-session', 'default: native-resume')
    .replace('  resumable: true\n', '')
    .replace('mode: resumable', 'mode: persistent')
  const [line, column] = placeOf(text, 'native-resume')
  expect(problemsOf(text)).toEqual([expect.objectContaining({ code: 'capability_required', line, column })])
})

test('an unknown protocol is one error, not two, and says what there is', () => {
  expect(problemsOf(sampleWith('protocol: acp', 'protocol: apc'))).toEqual([
    expect.objectContaining({
      code: 'protocol_unsupported',
      expected: 'one of acp, mcp, proprietary',
      given: 'apc',
      suggestion: 'acp',
    }),
  ])
})

test('an unknown install method marked experimental is kept and not refused', () => {
  const result = parseAgentCli(
    sampleWith('method: npm\n    package: "@sample/agent"', 'method: nix\n    experimental: true\n    attr: x'),
    { path },
  )
  expect(result.ok && result.manifest.install[0]).toEqual({ method: 'unknown', experimental: true, name: 'nix' })
})

test('a sandbox provider that the host registers is accepted', () => {
  const text = sampleWith('provider: local', 'provider: our-jail')
  expect(parseAgentCli(text, { path, sandboxProviders: ['our-jail'] }).ok).toBe(true)
})

test('a path without a folder, or another file name, has no name to compare', () => {
  for (const other of ['AGENT-CLI.md', './AGENT-CLI.md', 'x/other.md', '']) {
    expect(parseAgentCli(SAMPLE, { path: other })).toMatchObject({ ok: true, warnings: [] })
  }
})

test.each([
  ['version: 1.2.3', 'version: 1.2', '1.2.0'],
  ['interactive: true', 'interactive: "yes"', 'true'],
  ['idle_timeout_ms: 900000', 'idle_timeout_ms: "900000"', '900000'],
  ['bin_args: [acp]', 'bin_args: acp', '["acp"]'],
  ['capabilities:', 'capabilites:', 'capabilities'],
  ['mode: resumable', 'mode: Resumable', 'resumable'],
  ['default: pinned-session', 'default: pinned_session', 'pinned-session'],
])('instead of %j, %j is answered with the suggestion %j', (from, to, suggestion) => {
  expect(problemsOf(sampleWith(from, to))).toContainEqual(expect.objectContaining({ suggestion }))
})
