import { expect, test } from 'vitest'
import { compileLaunch, parseAgentCli } from '@agentproto/manifest'
import type { AgentCliManifest, LaunchRequest } from '@agentproto/manifest'
import { sampleWith, SAMPLE } from './sample.js'

const parsed = (text: string): AgentCliManifest => {
  const result = parseAgentCli(text, { path: 'AGENT-CLI.md' })
  if (!result.ok) throw new Error(JSON.stringify(result.problems, null, 2))
  return result.manifest
}
const manifest = parsed(SAMPLE)

test('AIP-45: without a mode or options, bin_args run verbatim', () => {
  expect(compileLaunch(manifest)).toEqual({
    args: ['acp'],
    env: { SAMPLE_MODEL: 'sample-large' },
    model: 'sample-large',
  })
})

test('AIP-45: bin_args, then the mode, then options in declaration order', () => {
  const options = { persona: 'pirate', auto: true, max_turns: 5, model: 'sample-small' }
  expect(compileLaunch(manifest, { mode: 'plan', options })).toEqual({
    args: ['acp', '--permission-mode', 'plan', '--model', 'sample-small', '--max-turns=5', '--auto'],
    env: { SAMPLE_MODEL: 'sample-small', SAMPLE_PLAN: '1', SAMPLE_PERSONA: 'pirate' },
    model: 'sample-small',
  })
})

test('a mode without a patch changes nothing', () => {
  expect(compileLaunch(manifest, { mode: 'default' }).args).toEqual(['acp'])
})

test('AIP-45: a value that is the declared default is not passed', () => {
  const { args, env } = compileLaunch(manifest, { options: { model: 'sample-large', persona: 'plain' } })
  expect({ args, env }).toEqual({ args: ['acp'], env: { SAMPLE_MODEL: 'sample-large' } })
})

test('AIP-45: bin_args_append_when_true needs true', () => {
  expect(compileLaunch(manifest, { options: { auto: false } }).args).toEqual(['acp'])
})

test('12.C6 a flag is passed when true is the default, unless the value is false', () => {
  const flagged = parsed(sampleWith('["--auto"]', '["--auto"]\n    default: true'))
  expect(compileLaunch(flagged).args).toEqual(['acp', '--auto'])
  expect(compileLaunch(flagged, { options: { auto: true } }).args).toEqual(['acp', '--auto'])
  expect(compileLaunch(flagged, { options: { auto: false } }).args).toEqual(['acp'])
})

test('a value replaces every {value}, and is not replaced itself', () => {
  const text = sampleWith('["--model", "{value}"]', '["--model={value}/{value}", "{value}{value}"]').replace(
    'type: enum\n    enum: [sample-large, sample-small]',
    'type: string',
  )
  const unlimited = parsed(text.replace('  allowed: [sample-large, sample-small]\n', ''))
  expect(compileLaunch(unlimited, { options: { model: '$& {value} $1' } }).args).toEqual([
    'acp',
    '--model=$& {value} $1/$& {value} $1',
    '$& {value} $1$& {value} $1',
  ])
})

test('a boolean template says true or false', () => {
  const text = sampleWith(
    'bin_args_append_when_true: ["--auto"]',
    'bin_args_template: ["--auto={value}"]\n    default: true',
  )
  expect(compileLaunch(parsed(text), { options: { auto: false } }).args).toEqual(['acp', '--auto=false'])
})

test('an unknown mode is an error that names the known ones', () => {
  expect(() => compileLaunch(manifest, { mode: 'plann' })).toThrow(
    expect.objectContaining({
      code: 'mode_unknown',
      message: expect.stringMatching(/one of default, plan.*Did you mean plan\?/),
    }),
  )
})

const refused: readonly (readonly [name: string, request: LaunchRequest, message: RegExp])[] = [
  [
    'an unknown option',
    { options: { modle: 'x' } },
    /no option modle.*one of model, max_turns, auto, persona.*Did you mean model\?/,
  ],
  ['an option of a prototype', { options: { constructor: 'x' } }, /no option constructor/],
  [
    'a value outside the enum',
    { options: { model: 'sample-larg' } },
    /option model.*one of sample-large, sample-small.*Did you mean sample-large\?/,
  ],
  [
    'a number below the bounds',
    { options: { max_turns: 0 } },
    /option max_turns.*a whole number from 1 to 200.*Given: 0/,
  ],
  ['a number above the bounds', { options: { max_turns: 201 } }, /from 1 to 200/],
  ['a fraction', { options: { max_turns: 1.5 } }, /a whole number/],
  ['not a number', { options: { max_turns: NaN } }, /a whole number/],
  ['a text for a number', { options: { max_turns: '5' } }, /a whole number/],
  ['a text for a boolean', { options: { auto: 'true' } }, /true or false/],
  ['a boolean for an enum', { options: { model: true } }, /one of sample-large/],
  ['a text with NUL', { options: { persona: 'a\0b' } }, /without NUL/],
  [
    'a model that is not allowed',
    { model: 'sample-smal' },
    /does not allow the model.*one of sample-large, sample-small/,
  ],
]

test.each(refused)('%s is refused before anything is spawned', (_, request, message) => {
  expect(() => compileLaunch(manifest, request)).toThrow(
    expect.objectContaining({ code: 'option_invalid', message: expect.stringMatching(message) }),
  )
})

test('a text that stands alone in its argument must not look like a flag', () => {
  const text = sampleWith(
    '    env:\n      SAMPLE_PERSONA: "{value}"',
    '    bin_args_template: ["--persona", "{value}"]',
  )
  const withArgument = parsed(text)
  expect(() => compileLaunch(withArgument, { options: { persona: '--yolo' } })).toThrow(
    expect.objectContaining({ code: 'option_invalid' }),
  )
  expect(compileLaunch(withArgument, { options: { persona: '- a list' } }).args).toEqual([
    'acp',
    '--persona',
    '- a list',
  ])
  expect(compileLaunch(manifest, { options: { persona: '--yolo' } }).env).toMatchObject({ SAMPLE_PERSONA: '--yolo' })
})

test('models: the asked one wins over the option, the option over the default; slot default names the variable', () => {
  expect(compileLaunch(manifest, { model: 'sample-small' })).toMatchObject({
    model: 'sample-small',
    env: { SAMPLE_MODEL: 'sample-small' },
  })
  expect(compileLaunch(manifest, { model: 'sample-large', options: { model: 'sample-small' } }).model).toBe(
    'sample-large',
  )
  const open = parsed(sampleWith('  default: sample-large\n  allowed: [sample-large, sample-small]\n', ''))
  expect(compileLaunch(open)).toEqual({ args: ['acp'], env: {} })
  expect(compileLaunch(open, { model: 'anything' })).toMatchObject({
    model: 'anything',
    env: { SAMPLE_MODEL: 'anything' },
  })
})

test('a manifest without modes and options says that it has none', () => {
  const bare = { ...manifest, modes: [], options: [] }
  expect(() => compileLaunch(bare, { mode: 'plan' })).toThrow(/the adapter declares none/)
  expect(() => compileLaunch(bare, { options: { model: 'x' } })).toThrow(/the adapter declares none/)
})

test('nothing of the manifest or the request is changed', () => {
  const before = structuredClone(manifest)
  compileLaunch(manifest, { mode: 'plan', options: { auto: true } })
  expect(manifest).toEqual(before)
})

test('a model with quotes in its name stays a model in JSON that the agent parses', () => {
  const text = sampleWith(
    'bin_args_template: ["--model", "{value}"]',
    `env:\n      SAMPLE_CONFIG: '{"model":"{value}"}'`,
  )
    .replace('type: enum\n    enum: [sample-large, sample-small]', 'type: string')
    .replace('  allowed: [sample-large, sample-small]\n', '')
  const hostile = 'x","permission":{"bash":"allow"},"y":"'
  const { env } = compileLaunch(parsed(text), { options: { model: hostile } })
  expect(JSON.parse(env['SAMPLE_CONFIG'] ?? '')).toEqual({ model: hostile })
})

test('no variable reaches argv, whatever modes and options put into the environment', () => {
  const options = { persona: 'only-in-env' }
  const { args, env } = compileLaunch(manifest, { mode: 'plan', options })
  expect(env).toMatchObject({ SAMPLE_PERSONA: 'only-in-env', SAMPLE_PLAN: '1' })
  expect(args.join(' ')).not.toContain('only-in-env')
})

test('F98 an option or a mode that the adapter does not declare is refused, never dropped', () => {
  const message = expect.stringMatching(/has no option max_turn\b.*Did you mean max_turns\?$/)
  expect(() => compileLaunch(manifest, { options: { max_turn: 5 } })).toThrow(
    expect.objectContaining({ code: 'option_invalid', message }),
  )
  expect(() => compileLaunch(manifest, { mode: 'plam' })).toThrow(expect.objectContaining({ code: 'mode_unknown' }))
})
