import { readFileSync } from 'node:fs'
import { type Schema, Validator } from '@cfworker/json-schema'
import { asList, asRecord, isRecord } from '@agentproto/contracts'
import { type ManifestProblem, parseAgentCli, type ProblemCode } from '@agentproto/manifest'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { SAMPLE } from './sample.js'

/** What the JSON Schema cannot say, and the reader refuses by a rule. */
const RULES: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'bounds_reversed',
  'capability_required',
  'continuation_default_unsupported',
  'id_duplicate',
  'mcp_incomplete',
  'model_not_allowed',
  'option_default_invalid',
  'option_incomplete',
  'range_invalid',
  'regex_invalid',
  'sandbox_provider_unknown',
  'secret_in_argv',
  'secret_in_manifest',
  'step_incomplete',
  'step_reference_unknown',
])

/** Keys that the protocol needs, and keys of options of another type. */
const KEY_RULES = /^(?:The protocol \w+ needs|Only an option of type \w+ has) the key /

const SETUP = [
  {
    id: 'a',
    kind: 'cmd',
    cmd: 'x',
    timeout_ms: 100,
    interactive: false,
    description: 'A.',
    skip_if: { cmd: 'y', exit_code: 1, timeout_ms: 100 },
    persist: { env: 'A' },
  },
  { id: 'b', kind: 'prompt', prompt: 'B?', type: 'select', default: 'x', options: ['x', 'y'] },
  { id: 'c', kind: 'prompt', prompt: 'C?', options: { cmd: 'x', timeout_ms: 100 }, persist: { cmd: 'z' } },
  { id: 'd', kind: 'oauth', secret_slug: 'team/login' },
  { id: 'e', kind: 'external', url: 'https://a.example/', callback: { param: 'c', timeout_ms: 100 } },
]

const INSTALL = [
  { method: 'brew', package: 'a', experimental: false },
  { method: 'npm', package: 'a', global: true },
  { method: 'pip', package: 'a', user: true },
  { method: 'curl', url: 'https://a.example/i.sh', verify_sha256: 'a'.repeat(64) },
  { method: 'download', url: 'https://a.example/i.tgz', extract_bin: 'bin/a' },
  { method: 'vendored', path: './a' },
]

const SANDBOX = {
  provider: 'local',
  config: { cwd: '/work', shell: true },
  limits: { timeout_ms: 1, memory_mb: 1, cpu_ms: 1 },
  env: { auth: { ref: './S.md', state: { env: ['A'] } }, passthrough: ['B'], set: { C: 'd' } },
  network: { egress: ['a.example', '*.b.example:443'], ingress: [] },
  mounts: [{ source: { file: 'a' }, at: '/a', mode: 'read-only' }],
  lifecycle: { pause_after_idle: 'PT1M' },
  fs: { read: ['a'], write: [], deny: [] },
  exec: { allow: true, spawn: [] },
  tty: { required: true },
}

const RUNNER = {
  engine: 'subprocess',
  needs: { language: 'node', native: ['a'], npm: ['a@1'], pip: [] },
  limits: { timeout_ms: 1, memory_mb: 1 },
}

const FULL: unknown = parse(SAMPLE.split('---\n')[1] ?? '')
const MCP = { transport: 'stdio', command: 'a', args: ['b'], url: 'https://a.example/' }
const DOCUMENTS: readonly unknown[] = [
  FULL,
  { ...asRecord(FULL), setup: SETUP, install: INSTALL, sandbox: SANDBOX, runner: RUNNER },
  { ...asRecord(FULL), protocol: 'mcp', acp: undefined, mcp: MCP, sandbox: './SANDBOX.md', runner: './RUNNER.md' },
]

/** Values that are wrong in some places and right in others. */
const ODD: readonly unknown[] = [
  '',
  ' ',
  'x',
  'A_B',
  'true',
  '<<',
  '/',
  '../x',
  './x.md',
  '1.2',
  'P1.5D',
  'P1M',
  'PT',
  'PT0S',
  'P1.5DT1H',
  'x'.repeat(81),
  'x'.repeat(2_001),
  'https://a.example',
  'no url',
  'npm',
  'exit_code:1',
  '*.a.example',
  '😀',
  0,
  -1,
  1,
  99,
  100,
  1.5,
  1e21,
  true,
  false,
  null,
  [],
  [''],
  ['a', 'a'],
  [1],
  {},
  { a: 1 },
  [{}],
]

type Place = readonly (string | number)[]

/** Every place of a document, the document itself first. */
const placesOf = (value: unknown, path: Place = []): readonly Place[] => {
  const inner = Array.isArray(value) ? [...value.entries()] : isRecord(value) ? Object.entries(value) : []
  return [path, ...inner.flatMap(([step, each]) => placesOf(each, [...path, step]))]
}

/** The value with what is at a place replaced; removed for undefined. */
function withChange(value: unknown, [step, ...rest]: Place, change: (before: unknown) => unknown): unknown {
  if (step === undefined) return change(value)
  if (typeof step === 'number') {
    const list = asList(value)
    // An earlier change has removed it.
    if (step >= list.length) return value
    const changed = withChange(list[step], rest, change)
    return changed === undefined ? list.toSpliced(step, 1) : list.with(step, changed)
  }
  return { ...asRecord(value), [step]: withChange(asRecord(value)[step], rest, change) }
}

const changes: readonly ((odd: unknown) => (before: unknown) => unknown)[] = [
  (odd) => () => odd,
  () => () => undefined,
  (odd) => (before) => (Array.isArray(before) ? [...asList(before), odd] : { ...asRecord(before), extra: odd }),
  () => (before) => (Array.isArray(before) ? [...asList(before), ...asList(before)] : before),
  () => (before) => (typeof before === 'string' ? `${before}x` : typeof before === 'number' ? before - 1 : before),
]

const mutated = fc.constantFrom(...DOCUMENTS).chain((document) =>
  fc
    .array(
      fc.record({
        place: fc.constantFrom(...placesOf(document)),
        odd: fc.constantFrom(...ODD),
        change: fc.constantFrom(...changes),
      }),
      { minLength: 1, maxLength: 2 },
    )
    .map((all) => all.reduce((made, { place, odd, change }) => withChange(made, place, change(odd)), document)),
)

const schemaFile = (name: string): Schema =>
  JSON.parse(readFileSync(new URL(`../../../schemas/${name}.schema.json`, import.meta.url), 'utf8')) as Schema
const validator = new Validator(schemaFile('agent-cli'), '2020-12')
validator.addSchema(schemaFile('blocks'))

function problemsOf(document: unknown): readonly ManifestProblem[] {
  const result = parseAgentCli(`---\n${JSON.stringify(document)}\n---\n`, { path: 'AGENT-CLI.md' })
  return result.ok ? [] : result.problems.filter(({ severity }) => severity === 'error')
}

const errorsOf = (document: unknown): readonly ProblemCode[] => problemsOf(document).map(({ code }) => code)
const isByRule = ({ code, message }: ManifestProblem): boolean => RULES.has(code) || KEY_RULES.test(message)

test('12.C6 the documents that are mutated are valid', () => {
  for (const document of DOCUMENTS) {
    const plain: unknown = JSON.parse(JSON.stringify(document))
    expect([errorsOf(plain), validator.validate(plain).errors]).toEqual([[], []])
  }
})

test('12.C6 the public JSON Schema and the reader agree about mutated manifests, but for named rules', () => {
  fc.assert(
    fc.property(mutated, (made) => {
      const document: unknown = JSON.parse(JSON.stringify(made ?? null))
      const { valid } = validator.validate(document)
      const errors = problemsOf(document)
      const unexplained = valid ? errors.filter((problem) => !isByRule(problem)) : []
      expect({ unexplained, refused: errors.length > 0 }).toEqual({
        unexplained: [],
        refused: !valid || errors.length > 0,
      })
    }),
    { numRuns: 1_000 },
  )
})

const withField = (path: Place, value: unknown): unknown => withChange(DOCUMENTS[1], path, () => value)

test.each<[string, Place, unknown]>([
  ['a time limit below 100 ms', ['setup', 0, 'timeout_ms'], 99],
  ['a time limit of skip_if below 100 ms', ['setup', 0, 'skip_if', 'timeout_ms'], 1],
  ['a time limit of choices below 100 ms', ['setup', 2, 'options', 'timeout_ms'], 1],
  ['a time limit of a callback below 100 ms', ['setup', 4, 'callback', 'timeout_ms'], 1],
  ['an overlong description of a step', ['setup', 0, 'description'], 'x'.repeat(2_001)],
  ['an overlong description of a mode', ['modes', 1, 'description'], 'x'.repeat(2_001)],
  ['an overlong description of an option', ['options', 1, 'description'], 'x'.repeat(2_001)],
  ['an empty choice of a prompt', ['setup', 1, 'options'], ['x', '']],
  ['an empty choice of an option', ['options', 0, 'enum'], ['sample-large', 'sample-small', '']],
  ['no choice', ['setup', 1, 'options'], []],
  ['a number as the default of a prompt', ['setup', 1, 'default'], 1],
  ['a boolean as the default of a prompt', ['setup', 1, 'default'], true],
  ['a duration of nothing', ['auth', 'refresh', 'every'], 'PT0S'],
  ['a duration with a fraction in the middle', ['auth', 'refresh', 'every'], 'P1.5DT1H'],
  ['an unknown key of an inline runner', ['runner', 'limit'], {}],
  ['an unknown engine of an inline runner', ['runner', 'engine'], 'container'],
  ['a limit of an inline runner that is none', ['runner', 'limits', 'memory_mb'], 0],
])('12.C6 %s is refused by both', (_, path, value) => {
  const document = withField(path, value)
  expect(validator.validate(document).valid).toBe(false)
  expect(errorsOf(document)).not.toEqual([])
})

test.each(['P1.5D', 'PT0.5H', 'P1M', 'P2W'])('12.C6 the duration %s is accepted by both', (every) => {
  const document = JSON.parse(JSON.stringify(withField(['auth', 'refresh', 'every'], every))) as unknown
  expect([validator.validate(document).errors, errorsOf(document)]).toEqual([[], []])
})

test('12.C6 the default of a boolean prompt is "true" or "false"', () => {
  const prompt = { id: 'b', kind: 'prompt', prompt: 'B?', type: 'boolean' }
  expect(errorsOf(withField(['setup', 1], { ...prompt, default: 'true' }))).toEqual([])
  expect(errorsOf(withField(['setup', 1], { ...prompt, default: 'yes' }))).toEqual(['option_default_invalid'])
})
