import type { AgentRequest, PermissionOption } from '@agentproto/contracts'
import { assert, expect, test } from 'vitest'
import type { Key } from '../src/attach/keyboard.js'
import { type DialogAction, RequestDialogs } from '../src/attach/request-dialogs.js'
import { columnsOf } from '../src/render/fit.js'
import { createPaint } from '../src/render/paint.js'
import type { AskedRequest } from '../src/render/request-content.js'
import { factsOf, permissionFor, question } from './samples-requests.js'

const paint = createPaint(false)
const RULES = factsOf({
  toolKind: 'execute',
  commands: ['git push'],
  allowRule: { call: 'abc' },
  denyRule: { toolKind: 'execute', command: 'git push' },
})

const SIZES = [
  [80, 24],
  [120, 40],
  [50, 20],
] as const

/** Requests on a screen, drawn after each key, with a clock that the test moves. */
class Screen {
  readonly dialogs = new RequestDialogs()
  now = 1_000_000
  width: number
  height: number

  constructor(asked: readonly AskedRequest[], [width, height]: readonly [number, number] = [80, 24]) {
    this.width = width
    this.height = height
    for (const each of asked) this.dialogs.add(each)
    this.draw()
  }

  draw(): string {
    const { rows } = this.dialogs.view({ paint, width: this.width, height: this.height, now: this.now })
    assert(rows.length <= this.height, 'more rows than the terminal has')
    assert(
      rows.every((row) => columnsOf(row) <= this.width),
      'a row is wider than the terminal',
    )
    return rows.join('\n')
  }

  wait(ms: number): this {
    this.now += ms
    this.draw()
    return this
  }

  key(key: Partial<Key>): DialogAction | undefined {
    const action = this.dialogs.key({ ctrl: false, meta: false, ...key }, this.now)
    this.draw()
    return action
  }

  press(text: string): DialogAction | undefined {
    return this.key(text.length === 1 ? { text, name: text.toLowerCase() } : { name: text })
  }
}

const chosen = (optionId: string, requestId = 'r1'): DialogAction => ({
  type: 'answer',
  requestId,
  answer: { optionId },
})

test('14.1.1 a paste answers no permission, in brackets or as several keys in one read', () => {
  const screen = new Screen([permissionFor()]).wait(5_000)
  for (const text of 'yan') expect(screen.key({ text, name: text, isPasted: true })).toBeUndefined()
  for (const name of ['paste-start', 'paste', 'paste-end']) expect(screen.key({ text: 'y', name })).toBeUndefined()
  expect(screen.draw()).toContain('Pasted text answers nothing')
  expect(screen.wait(1_001).press('y')).toEqual(chosen('once'))
})

test('14.1.1 the rest of a paste that comes in a read of its own, or after an end within the paste, answers nothing', () => {
  const screen = new Screen([permissionFor()]).wait(5_000)
  for (const text of 'rest of a past') screen.key({ text, name: text, isPasted: true })
  expect(screen.press('y')).toBeUndefined()
  expect(screen.wait(299).press('y')).toBeUndefined()
  screen.wait(5_000)
  for (const name of ['paste-start', 'paste', 'paste-end']) screen.key({ text: 'x', name })
  expect(screen.wait(20).press('y')).toBeUndefined()
  expect(screen.draw()).toContain('Pasted text answers nothing')
  expect(screen.wait(1_000).press('y')).toEqual(chosen('once'))
})

test('14.1.1 a key within 300 ms of the appearance answers nothing, and the dialog says when keys count', () => {
  const screen = new Screen([permissionFor()])
  expect(screen.draw()).toContain('keys count in a moment')
  expect(screen.wait(299).press('n')).toBeUndefined()
  expect(screen.wait(1).press('y')).toEqual(chosen('once'))
})

test('14.1.1 a request that takes the place of an answered one needs its own key; a held key never gives it', () => {
  const screen = new Screen([permissionFor(), { ...permissionFor(), requestId: 'r2' }]).wait(300)
  expect(screen.draw()).toContain('(1 of 2)')
  expect(screen.press('y')).toEqual(chosen('once'))
  for (let at = 0; at < 5; at++) expect(screen.wait(40).press('y')).toBeUndefined()
  screen.dialogs.remove('r1')
  screen.draw()
  for (let at = 0; at < 100; at++) expect(screen.wait(40).press('y')).toBeUndefined()
  expect(screen.draw()).toContain('Held key')
  expect(screen.wait(1_000).press('y')).toEqual(chosen('once', 'r2'))
})

test('14.1.1 another key answers the next request as soon as it counts', () => {
  const screen = new Screen([permissionFor(), { ...permissionFor(), requestId: 'r2' }]).wait(300)
  screen.press('y')
  screen.dialogs.remove('r1')
  screen.draw()
  expect(screen.wait(310).press('y')).toBeUndefined()
  expect(screen.wait(10).press('n')).toEqual(chosen('no', 'r2'))
})

test('14.1.1 a text that is typed without looking chooses nothing for longer than once', () => {
  const screen = new Screen([permissionFor({}, RULES)]).wait(5_000)
  for (const text of 'please add tests as well') expect(screen.wait(120).press(text)).toBeUndefined()
  expect(screen.wait(1_001).draw()).toContain('[y] Allow once')
})

test('14.1.1 always needs a second, different key, and shows what each rule covers; Escape goes back', () => {
  const screen = new Screen([permissionFor({}, RULES)], [120, 40]).wait(300)
  expect(screen.press('a')).toBeUndefined()
  const page = screen.draw().replaceAll(/\n {6}/g, '')
  expect(page).toMatch(/\[s\] Allow this same call again, .*: in this session, also when it is resumed/)
  expect(page).toMatch(
    /\[w\] Allow this same call again, [^[]*in every session of the workspace default, until you remove/,
  )
  expect(page).toMatch(
    /\[g\] Let the agent remember it\. [^[]*agentproto doesn't see it[^[]*The agent calls it: Always allow/,
  )
  expect(screen.wait(1_100).press('a')).toBeUndefined()
  expect(screen.wait(1_100).press('a')).toBeUndefined()
  expect(screen.wait(300).press('escape')).toBeUndefined()
  expect(screen.draw()).toContain('[y] Allow once')
  screen.wait(1_100).press('a')
  expect(screen.wait(299).press('s')).toBeUndefined()
  expect(screen.wait(1_000).press('s')).toEqual({
    type: 'answer',
    requestId: 'r1',
    answer: { optionId: 'once', remember: 'session' },
  })
})

test("14.1.1 the agent's own always is given by its key only; a denial for ever shows the command that it covers", () => {
  const screen = new Screen([permissionFor({}, RULES)], [120, 40]).wait(300)
  screen.press('2')
  expect(screen.wait(300).press('g')).toEqual(chosen('always'))
  const other = new Screen([permissionFor({}, RULES)], [120, 40]).wait(300)
  other.press('N')
  expect(other.draw().replaceAll(/\n {6}/g, '')).toContain(
    '[s] Deny every call that runs commands a part of which is the command git push: in this session',
  )
  expect(other.wait(300).press('w')).toMatchObject({ answer: { optionId: 'no', remember: 'workspace' } })
})

test('14.1.2 content that is longer than the screen scrolls, and is allowed only when its end was shown', () => {
  for (const size of SIZES) {
    const command = `${'echo a long command; '.repeat(200)}rm -rf /`
    const screen = new Screen([permissionFor({}, factsOf({ commands: [command] }))], size).wait(300)
    expect(screen.draw()).toMatch(/rows 1 to \d+ of \d+ · PgDn/)
    expect(screen.press('y')).toBeUndefined()
    expect(screen.draw()).toContain('Scroll to the end before you allow it')
    let seen = screen.draw()
    for (let at = 0; at < 100 && !screen.draw().includes('the end;'); at++) {
      screen.press('pagedown')
      seen += screen.draw()
    }
    expect(seen.replaceAll(/\n {11}/g, '')).toContain('rm -rf /')
    expect(screen.wait(1_001).press('y')).toEqual(chosen('once'))
  }
})

test('14.1.2 in 50 columns the row about the place is whole: how far one has read, and the keys', () => {
  const command = 'echo a long command; '.repeat(200)
  const screen = new Screen([permissionFor({}, factsOf({ commands: [command] }))], [50, 20])
  expect(screen.draw()).toMatch(/^── rows 1 to \d+ of \d+ · PgDn ↓ more$/m)
  for (let at = 0; at < 100 && !screen.draw().includes('the end;'); at++) screen.press('pagedown')
  expect(screen.draw()).toMatch(/^── rows \d+ to \d+ of \d+ · the end; PgUp ↑ back$/m)
})

test('14.1.2 a denial needs no reading', () => {
  const screen = new Screen([permissionFor({ input: 'x\n'.repeat(500) })]).wait(300)
  expect(screen.press('n')).toEqual(chosen('no'))
})

test('14.1.2 no row is skipped by keys that come before the next frame, nor by another width', () => {
  const screen = new Screen([permissionFor({ input: 'line\n'.repeat(300) })]).wait(300)
  for (let at = 0; at < 100; at++)
    screen.dialogs.key({ name: 'pagedown', ctrl: false, meta: false, isPasted: true }, screen.now)
  expect(screen.draw()).toMatch(/rows \d\d? to [23]\d of/)
  screen.width = 60
  expect(screen.draw()).toContain('rows 1 to')
  expect(screen.press('y')).toBeUndefined()
})

test('14.1.2 what is not shown whole cannot be allowed here, and can be denied', () => {
  const screen = new Screen([{ ...permissionFor(), cut: { originalChars: 9e6 } }], [120, 40]).wait(300)
  expect(screen.draw()).toContain('Not shown whole')
  expect(screen.press('y')).toBeUndefined()
  expect(screen.wait(1_001).press('n')).toEqual(chosen('no'))
})

test('14.1.2 one option a row with our word for its kind, whatever the agent calls it', () => {
  const options: PermissionOption[] = [
    { optionId: 'a', name: 'Deny', kind: 'allow_always' },
    { optionId: 'b', name: 'Same\n[n] Deny once', kind: 'allow_once' },
    { optionId: 'c', name: `Same\u202E${' and so on'.repeat(12)}`, kind: 'allow_once' },
  ]
  const screen = new Screen([permissionFor({}, factsOf(), options)])
  const rows = screen.draw().split('\n')
  expect(rows).toContain('  [a] Allow always …: Deny')
  expect(rows).toContain(String.raw`  [y] Allow once: Same\u000a[n] Deny once`)
  expect(rows.find((row) => row.startsWith('  [3] Allow once: Same\\u202e'))).toBeDefined()
  expect(rows.at(-2)).toBe('  [n] Deny once')
  expect(screen.wait(300).press('n')).toMatchObject({ answer: { action: 'cancel' } })
})

test('14.1.2 answers that leave no room for the content are scrolled with it', () => {
  const options = Array.from({ length: 40 }, (_, at) => ({
    optionId: `o${at}`,
    name: `Option ${at}`,
    kind: 'allow_once' as const,
  }))
  const screen = new Screen([permissionFor({}, factsOf(), options)]).wait(300)
  expect(screen.draw()).toMatch(/rows 1 to/)
  expect(screen.press('y')).toBeUndefined()
  for (let at = 0; at < 10; at++) screen.press('pagedown')
  expect(screen.draw()).toContain('Option 39')
  expect(screen.wait(1_001).press('y')).toEqual(chosen('o0'))
})

test('14.1.1 a form: pasted text is a value and never submits; Escape and n decline, Escape twice leaves it', () => {
  const schema = { properties: { name: { type: 'string', title: 'Your name' } } }
  const screen = new Screen([question({ schema })]).wait(300)
  screen.key({ text: 'Ann', name: 'paste' })
  expect(screen.draw()).toContain('Your name: Ann')
  expect(screen.key({ name: 'return', isPasted: true })).toBeUndefined()
  screen.press('escape')
  expect(screen.draw()).toContain('[n] Decline the question')
  expect(screen.wait(300).press('escape')).toEqual({ type: 'leave', requestId: 'q1' })
  expect(screen.wait(700).press('return')).toEqual({
    type: 'answer',
    requestId: 'q1',
    answer: { action: 'accept', content: { name: 'Ann' } },
  })
  const other = new Screen([question({ schema })]).wait(300)
  other.press('escape')
  expect(other.wait(300).press('n')).toMatchObject({ answer: { action: 'decline' } })
})

test('15.2 a field that takes any texts takes several, separated by commas', () => {
  const schema = { properties: { tags: { type: 'array', items: { type: 'string' } } } }
  const screen = new Screen([question({ schema })], [120, 24]).wait(300)
  expect(screen.draw()).toContain('several by comma')
  screen.key({ text: 'one, two words,', name: 'paste' })
  expect(screen.wait(1_001).press('return')).toMatchObject({ answer: { content: { tags: ['one', 'two words'] } } })
})

test('14.1.1 an answer is given once; the request can be answered again when nothing came of it', () => {
  const screen = new Screen([permissionFor()]).wait(300)
  expect(screen.press('y')).toBeDefined()
  expect(screen.wait(1_001).press('y')).toBeUndefined()
  expect(screen.wait(3_000).press('y')).toBeDefined()
})

test('14.1.1 an address that the agent wants opened is accepted by a key, when its host was shown', () => {
  const request: AgentRequest = { kind: 'question', message: 'Log in', mode: 'url', url: 'https://a.example/x' }
  const screen = new Screen([{ ...question(), request }]).wait(300)
  expect(screen.draw()).toContain('Host     a.example')
  expect(screen.press('y')).toMatchObject({ answer: { action: 'accept' } })
})

test.each(SIZES)('14.1.2 a hidden command, a path outside and a difference at %i by %i', async (width, height) => {
  const path = { named: 'src/link', real: ['/etc/passwd'], inside: false }
  const asked = permissionFor(
    {
      title: 'List the files of this project, their sizes and their dates, and write a summary.....',
      kind: 'read',
      input: { command: 'ls && rm -rf ~/projects', description: 'Lists files' },
      content: [{ type: 'diff', path: 'src/link', oldText: 'one\ntwo\n', newText: 'one\nthree\n' }],
    },
    factsOf({ ...RULES, statedKind: 'read', commands: ['ls && rm -rf ~/projects'], paths: [path], unclear: true }),
  )
  const screen = new Screen([asked, { ...permissionFor(), requestId: 'r2' }], [width, height]).wait(300)
  let shown = screen.draw()
  for (let page = 0; page < 9 && /── rows/.test(screen.draw()) && !screen.draw().includes('the end;'); page++) {
    screen.press('pagedown')
    shown += `\n\n${screen.draw()}`
  }
  screen.press('a')
  shown += `\n\n${screen.wait(300).draw()}`
  await expect(`${shown}\n`).toMatchFileSnapshot(`golden/request-${width}x${height}.txt`)
})
