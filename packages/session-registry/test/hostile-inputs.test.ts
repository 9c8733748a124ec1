import { execFile } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { PermissionMode, PermissionRule, ToolCall } from '@agentproto/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchOfRequest } from '../src/permissions/rule-making.js'
import { inFolder, permission } from './fixtures/permission-requests.js'
import { temporaryHome } from './fixtures/test-registry.js'

/**
 * Whatever an agent puts into a call that would be allowed without it, under whatever name, in whatever spelling and
 * nesting: no mode and no rule allows it, unless the name is one that agents use for plain text.
 *
 * A failure names its seed and path: run it again with `SEED=… RUNS=… npx vitest run --project unit hostile-inputs`.
 */
const SEED = Number(process.env['SEED'] ?? 20_261_122)
const RUNS = Number(process.env['RUNS'] ?? 300)

const NOTES = ['description', 'explanation', 'reason', 'justification']
const TEXTS = [
  'content',
  'text',
  'old_text',
  'newText',
  'old_string',
  'new_string',
  'oldStr',
  'new_str',
  'file_text',
  'new_source',
]
const PATTERNS = [
  'pattern',
  'query',
  'glob',
  'glob_pattern',
  'include',
  'includePattern',
  'exclude',
  'excludePattern',
  'ignore',
]
const PATHS =
  `path paths file_path files filename absolute_path notebook_path source destination movePath directory dir_path
  dir folder cwd workdir`.split(/\s+/)
const OTHERS =
  `command cmd command_line script commands env stdin uri url changes edits diff unified_diff type output_mode
  offset limit timeout pages root target program args argv code shell options input params data steps follow mode
  available_decisions proposed_execpolicy_amendment parsed_cmd call_id timestamp request_id __proto__ constructor toString length 0`.split(
    /\s+/,
  )

const respelled = (name: string): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom('', '_', '-', '.', ' '), { minLength: name.length, maxLength: name.length })
    .chain((gaps) =>
      fc.mixedCase(fc.constant(Array.from(name, (char, at) => (at === 0 ? '' : (gaps[at] ?? '')) + char).join(''))),
    )

const names = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NOTES, ...TEXTS, ...PATTERNS, ...PATHS, ...OTHERS) },
  { weight: 2, arbitrary: fc.constantFrom(...NOTES, ...TEXTS, ...PATTERNS, ...PATHS, ...OTHERS).chain(respelled) },
  { weight: 1, arbitrary: fc.string({ minLength: 1, unit: 'binary' }) },
)

const OFFERS = ['availabledecisions', 'proposedexecpolicyamendment']

/** A place outside of the session's folder. `link` in that folder leads there. */
const place = fc.constantFrom(
  '/etc/passwd',
  '../x',
  './../x',
  'src/../../x',
  'src/..//../x',
  'link/secret',
  './link',
  '/proc/self/root/etc/passwd',
  '~/x',
  '~root/x',
  '$HOME/x',
  '${HOME}/x',
  '`pwd`/../x',
  'a.txt, /etc/passwd',
  'a.txt:/etc/passwd',
  'a.txt /etc/passwd',
  '@/etc/passwd',
  '--file=/etc/passwd',
  '{/etc,a}/x',
  '{.,x}./x',
  String.raw`..\x`,
  String.raw`C:\x`,
  '．．/x',
  '／etc／passwd',
  'file:///etc/passwd',
  'file:/etc/passwd',
  'file://localhost/%65tc/passwd',
  'ssh://host/x',
)

const spelled = fc.oneof(
  place,
  place.chain((text) => (text.startsWith('file:') ? fc.mixedCase(fc.constant(text)) : fc.constant(text))),
  fc
    .tuple(fc.constantFrom(' ', '\t', '\n', '\u00a0', '\u200b', '\ufeff', '"', "'"), place)
    .map(([odd, text]) => odd + text),
  place.filter((text) => text.startsWith('/')).map((text) => text.replaceAll('/', '%2F')),
  place.map((text) => `${text}\0`),
)

const command = fc.constantFrom(
  'rm -rf x',
  'git push --force',
  'git status; rm x',
  'git status $(rm x)',
  'git status > x',
  'bash -c "rm x"',
)

type Payload = { readonly text: string; readonly isPlace: boolean }
const payload: fc.Arbitrary<Payload> = fc.oneof(
  spelled.map((text) => ({ text, isPlace: true })),
  command.map((text) => ({ text, isPlace: false })),
)

/** Where the payload is put: below these names, or in a list. */
const nesting = fc.array(fc.oneof(names, fc.constant(undefined)), { maxLength: 10 })
const nested = (text: string, wraps: readonly (string | undefined)[]): unknown =>
  wraps.reduce<unknown>((inner, name) => (name === undefined ? [inner] : own(name, inner)), text)
/** Also for `__proto__`. */
const own = (name: string, value: unknown): object => Object.fromEntries([[name, value]])

interface Allowed {
  readonly mode: PermissionMode
  readonly call: Partial<ToolCall>
  readonly rule?: (cwd: string, call: Partial<ToolCall>) => Promise<PermissionRule['match']> | PermissionRule['match']
  /** Names that are plain text in such a call. */
  readonly texts?: readonly string[]
  /** Names whose text is only searched for, or chooses what is searched. */
  readonly patterns?: readonly string[]
  readonly offers?: true
}

const digest: Allowed['rule'] = async (cwd, call) =>
  (await matchOfRequest(permission(call), { cwd, decision: 'allow', lifetime: 'session' })) ?? {}
const status = { kind: 'execute', input: { command: 'git status' } } as const
const edit = { kind: 'edit', input: { file_path: 'src/a.ts', old_string: 'a', new_string: 'b' } } as const

const ALLOWED: Readonly<Record<string, Allowed>> = {
  'a read': { mode: 'approve-reads', call: { kind: 'read', input: { path: 'a.txt' } } },
  'a read with a location': { mode: 'approve-reads', call: { kind: 'read', locations: [{ path: 'a.txt' }] } },
  'a search': { mode: 'approve-reads', call: { kind: 'search', input: { path: '.' } }, patterns: PATTERNS },
  'a command with a rule': { mode: 'ask', call: status, rule: () => ({ command: 'git status' }), offers: true },
  'an edit with a rule': {
    mode: 'ask',
    call: edit,
    rule: (cwd) => ({ path: `${cwd}/src/**` }),
    texts: TEXTS,
  },
  'an edit with a rule by kind': {
    mode: 'ask',
    call: edit,
    rule: () => ({ toolKind: 'edit' }),
    texts: TEXTS,
  },
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_. ]/g, '')

test.each(Object.entries(ALLOWED))(
  '12.A4 nothing hostile passes in %s',
  async (_name, { mode, call, rule, ...inert }) => {
    const { cwd } = await inFolder(mode)
    const { decide, permissions } = await sessionIn(cwd, mode, await rule?.(cwd, call))
    expect(await decide(call)).toBe('once')
    const remembering = await sessionIn(cwd, 'ask', await digest(cwd, call))
    expect(await remembering.decide(call)).toBe('once')
    await fc.assert(
      fc.asyncProperty(names, payload, nesting, fc.boolean(), async (name, { text, isPlace }, wraps, isFirst) => {
        const value = nested(text, wraps)
        const planted = own(name, value)
        const input = isFirst ? { ...planted, ...(call.input as object) } : { ...(call.input as object), ...planted }
        // A name of the call itself may be overwritten.
        fc.pre(JSON.stringify(input).includes(JSON.stringify(text).slice(1, -1)))
        const hostile = { ...call, input }
        expect(await remembering.decide(hostile)).not.toBe('once')
        if (isInert({ name, wraps, isPlace }, inert)) return
        expect(await decide(hostile)).not.toBe('once')
      }),
      { seed: SEED, numRuns: RUNS, endOnFailure: false },
    )
    expect(permissions.own.length).toBeLessThan(2)
  },
)

interface Planted {
  readonly name: string
  readonly wraps: readonly (string | undefined)[]
  readonly isPlace: boolean
}

/** Whether the payload is where agents use plain text. A command is no more than a name where a path is wanted. */
function isInert({ name, wraps, isPlace }: Planted, { texts = [], patterns = [], offers }: Partial<Allowed>): boolean {
  const inert = [...NOTES, ...texts, ...(isPlace ? [] : [...PATHS, ...patterns])].map(plain)
  const isList = wraps.length < 2 && wraps.every((wrap) => wrap === undefined)
  if (isList && inert.includes(plain(name))) return true
  // Parts of an edit have texts of their own.
  if (texts.length > 0 && ['edits', 'changes'].includes(plain(name)))
    return wraps.some((wrap) => inert.includes(plain(wrap ?? '')))
  // The answers to a command are no input.
  return offers === true && OFFERS.includes(plain(name)) && wraps.at(-1) === undefined && wraps.length > 0
}

/** A session's permissions in a folder with a link that leads out of it. */
async function sessionIn(cwd: string, mode: PermissionMode, match: PermissionRule['match'] | undefined) {
  await mkdir(join(cwd, 'src'), { recursive: true })
  await symlink('/etc', join(cwd, 'link')).catch(() => undefined)
  return inFolder(mode, match === undefined ? [] : [{ match }], cwd)
}

const WORDS = [
  'git',
  'status',
  'git status',
  'rm',
  'x',
  '-s',
  '',
  "'",
  '"',
  '\\',
  '$',
  '`',
  '(',
  ')',
  '{',
  '}',
  '<',
  '>',
  '#',
]
const MARKS = [
  ' ',
  ' ',
  ' ',
  ';',
  '&',
  '&&',
  '|',
  '||',
  '\n',
  '\r',
  '\t',
  '\u00a0',
  '=',
  '~',
  '*',
  '?',
  '[',
  ']',
  '!',
  '%',
  '^',
  ',',
]

test('12.A4 what a rule for "git status" allows runs that and nothing else in a real shell', async () => {
  const bin = await temporaryHome()
  for (const name of ['git', 'rm', 'x', 'status']) {
    await writeFile(join(bin, name), `#!/bin/sh\necho "$(basename "$0") $*" >> '${bin}/log'\n`)
    await chmod(join(bin, name), 0o755)
  }
  const { decide, cwd } = await inFolder('ask', [{ match: { command: 'git status' } }])
  const pieces = fc.oneof(fc.constantFrom(...WORDS), fc.constantFrom(...MARKS), fc.constant('git status'))
  const lines = fc.array(pieces, { minLength: 1, maxLength: 6 }).map((all) => all.join(''))
  await fc.assert(
    fc.asyncProperty(lines, async (line) => {
      if ((await decide({ kind: 'execute', input: { command: line } })) !== 'once') return
      const env = { PATH: `${bin}:/usr/bin:/bin` }
      // A line with an error of syntax runs nothing.
      await promisify(execFile)('/bin/sh', ['-c', line], { cwd, env }).catch(() => undefined)
      const ran = await readFile(join(bin, 'log'), 'utf8').catch(() => '')
      await rm(join(bin, 'log'), { force: true })
      expect(ran.replaceAll('git status\n', '')).toBe('')
      expect(await readdir(cwd)).toEqual([])
    }),
    { seed: SEED, numRuns: RUNS * 3 },
  )
})
