import { expect, test } from 'vitest'
import type { AgentRequest, Session, SessionRequest } from '@agentproto/contracts'
import type { Key } from '../src/attach/keyboard.js'
import { processorMs } from '../../../tooling/processor-time.ts'
import { COCKPIT_KEYS } from '../src/cockpit/cockpit-keys.js'
import type { CockpitAction } from '../src/cockpit/cockpit-command.js'
import { CockpitScreen } from '../src/cockpit/cockpit-screen.js'
import { columnsOf } from '../src/render/fit.js'
import { createPaint } from '../src/render/paint.js'
import { filterOf } from '../src/session-list-options.js'
import { session } from './samples.js'

const START = Date.parse('2026-11-21T10:10:00.000Z')
const SIZES = [
  [80, 24],
  [120, 40],
  [50, 20],
] as const
const paint = createPaint(false)

/** A cockpit with a clock, whose rows are drawn after each step as the program does. */
class Tried {
  now = START
  readonly screen: CockpitScreen
  width = 80
  height = 24

  constructor(sessions: readonly Session[], all = false) {
    this.screen = new CockpitScreen({
      order: { key: 'age', isReversed: false },
      filterAt: (now, shown) => filterOf({ all: shown }, now),
      all,
    })
    for (const each of sessions) this.screen.apply({ type: 'session', session: each })
    this.rows()
  }

  rows(): readonly string[] {
    const { width, height, now } = this
    const { rows } = this.screen.view({ paint, width, height, now })
    if (rows.length > height) throw new Error(`${rows.length} rows do not fit ${height}`)
    for (const row of rows) if (columnsOf(row) > width) throw new Error(`The row is wider than ${width}: ${row}`)
    return rows
  }

  text(): string {
    return this.rows().join('\n')
  }

  /** Presses keys one after the other, each after a second, so that every one counts. */
  press(...keys: readonly string[]): CockpitAction | undefined {
    let action: CockpitAction | undefined
    for (const name of keys) {
      this.now += 1_100
      this.rows()
      action = this.screen.key(keyOf(name), this.now)
      this.rows()
    }
    return action
  }

  type(text: string): void {
    this.press(...Array.from(text))
  }

  selected(): string | undefined {
    return /^❯ \S+ +(\S+)/m.exec(this.text())?.[1]
  }

  apply(changed: Session): void {
    this.screen.apply({ type: 'session', session: changed })
  }
}

const keyOf = (name: string): Key =>
  Array.from(name).length === 1
    ? { text: name, name: name.toLowerCase(), ctrl: false, meta: false }
    : // As Node reports it.
      { name, ctrl: false, meta: name === 'escape' }

const named = (label: string, fields: Partial<Session> = {}): Session =>
  session({ id: `s_${label}`, label, startedAt: startOf(label), lastActiveAt: '2026-11-21T10:09:00.000Z', ...fields })
/** Labels that come earlier in the alphabet are newer, and first in the list. */
const startOf = (label: string): string =>
  new Date(Date.parse('2026-11-21T10:00:00.000Z') - (label.codePointAt(0) ?? 0) * 1_000).toISOString()
const busy = { turn: { number: 1, state: 'busy' } } as const
const waiting = { pendingRequests: 1 } as const
const some = (): Session[] => [
  named('a', { ...busy, workspaceSlug: 'shop' }),
  named('b', { workspaceSlug: 'blog' }),
  named('c', { ...waiting, workspaceSlug: 'shop' }),
  named('d', { workspaceSlug: 'shop' }),
]

const request: AgentRequest = {
  kind: 'permission',
  toolCall: { type: 'tool-call', toolCallId: 't', title: 'Clean up', input: { command: 'rm -rf build' } },
  options: [
    { optionId: 'once', name: 'Allow', kind: 'allow_once' },
    { optionId: 'no', name: 'Reject', kind: 'reject_once' },
  ],
}
const asking = (sessionId: string, requestId = 'r1'): SessionRequest => ({
  requestId,
  sessionId,
  turn: 1,
  request,
  state: 'pending',
  createdAt: '2026-11-21T10:00:00.000Z',
})

test('14.2.1 a text that is pasted into a terminal without brackets interrupts and opens nothing', () => {
  const tried = new Tried(some())
  for (const name of ['f', 'i', 'x', 'return'])
    expect(tried.screen.key({ ...keyOf(name), isPasted: true }, tried.now)).toBeUndefined()
  expect(tried.press('x')).toMatchObject({ type: 'interrupt' })
})

test('14.2.1 arrows, j and k, pages, Home and End select a session', () => {
  const tried = new Tried(some())
  expect(tried.selected()).toBe('a')
  tried.press('j', 'down')
  expect(tried.selected()).toBe('c')
  tried.press('k')
  expect(tried.selected()).toBe('b')
  tried.press('end')
  expect(tried.selected()).toBe('d')
  tried.press('down')
  expect(tried.selected()).toBe('d')
  tried.press('home')
  expect(tried.selected()).toBe('a')
  tried.press('pagedown')
  expect(tried.selected()).toBe('d')
  tried.press('pageup', 'up')
  expect(tried.selected()).toBe('a')
})

test('14.2.1 the header counts who needs you, who works and who is idle', () => {
  const failed = named('e', { status: 'error', failure: { kind: 'process_exit', summary: 'gone' } })
  expect(new Tried([...some(), failed]).rows()[0]).toBe('1 needs you · 1 working · 2 idle · 1 failed')
  expect(new Tried([]).rows()[0]).toBe('0 need you · 0 working · 0 idle')
})

test('14.2.1 the selection stays on its session when others come, go or change', () => {
  const tried = new Tried(some())
  tried.press('j')
  tried.apply(named('0', busy))
  tried.apply(named('1'))
  expect(tried.selected()).toBe('b')
  tried.press('s')
  expect(tried.selected()).toBe('b')
  tried.apply(named('b', { ...waiting, workspaceSlug: 'blog' }))
  expect(tried.selected()).toBe('b')
  tried.screen.apply({ type: 'forgotten', id: 's_a' })
  expect(tried.selected()).toBe('b')
})

test('14.2.1 the selected row stays where it is on the screen when sessions come above it', () => {
  const many = Array.from({ length: 100 }, (_, index) => named(String.fromCodePoint(0x4e00 + index)))
  const tried = new Tried(many)
  tried.press('pagedown', 'pagedown', 'up', 'up')
  const rowOf = (): number => tried.rows().findIndex((row) => row.startsWith('❯'))
  const [row, name] = [rowOf(), tried.selected()]
  for (let index = 0; index < 10; index += 1) tried.apply(named(String.fromCodePoint(0x3400 + index)))
  expect([rowOf(), tried.selected()]).toEqual([row, name])
  expect(tried.rows()[0]).toMatch(/\d+–\d+ of 110 rows$/)
})

test('14.2.1 a key acts on the session that was drawn, not on one that took its place', () => {
  const tried = new Tried(some())
  tried.screen.apply({ type: 'forgotten', id: 's_a' })
  // Not drawn yet: the person sees a.
  expect(tried.screen.key(keyOf('x'), tried.now)).toBeUndefined()
  expect(tried.selected()).toBe('b')
  tried.screen.apply({ type: 'session', session: named('0', busy) })
  expect(tried.screen.key(keyOf('d'), tried.now)).toMatchObject({ type: 'diff', session: { label: 'b' } })
})

test('14.2.1 / filters by words of label, workspace, agent, state and branch; Escape shows all again', () => {
  const worktree = { path: '/w', branch: 'fix/cart', base: 'main', repository: '/r', folder: '/r' }
  const tried = new Tried([...some(), named('e', { worktree, adapterSlug: 'codex' })])
  const shown = (): string[] => tried.rows().flatMap((row) => /^[❯ ] \S+ +([a-e]) /.exec(row)?.[1] ?? [])
  tried.press('/')
  tried.type('shop')
  expect(shown()).toEqual(['a', 'c', 'd'])
  expect(tried.text()).toContain('Filter ❯ shop')
  tried.type(' IDLE')
  expect(shown()).toEqual(['d'])
  tried.press('return')
  expect(tried.text()).toContain('filter: shop IDLE')
  expect(tried.press('escape')).toBeUndefined()
  expect(shown()).toEqual(['a', 'b', 'c', 'd', 'e'])
  for (const word of ['cart', 'codex', 's_e']) {
    tried.press('/')
    tried.type(word)
    expect(shown()).toEqual(['e'])
    tried.press('escape')
  }
  tried.press('/')
  tried.type('q')
  expect(tried.text()).toContain('Filter ❯ q')
})

test('17.8 g groups by host, where the sessions are of several', () => {
  const tried = new Tried(some().map((each) => (each.label === 'c' ? { ...each, hostId: 'tower' } : each)))
  const groups = (): string[] => tried.rows().filter((row) => /^\S+ · \d+$/.test(row))
  for (const _ of ['workspace', 'state', 'host']) tried.press('g')
  expect(groups()).toEqual(['h · 3', 'tower · 1'])
  tried.press('g')
  expect(groups()).toEqual([])
})

test('14.2.1 g groups by workspace, then by state, then not', () => {
  const tried = new Tried(some())
  const groups = (): string[] => tried.rows().filter((row) => /^\S+ · \d+$/.test(row))
  tried.press('g')
  expect(groups()).toEqual(['blog · 1', 'shop · 3'])
  expect(tried.selected()).toBe('a')
  tried.press('g')
  expect(groups()).toEqual(['waiting · 1', 'busy · 1', 'idle · 2'])
  tried.press('home')
  expect(tried.selected()).toBe('c')
  tried.press('g')
  expect(groups()).toEqual([])
})

test('14.2.1 Tab goes from one session that waits to the next', () => {
  const tried = new Tried([...some(), named('e', waiting)])
  tried.press('tab')
  expect(tried.selected()).toBe('c')
  tried.press('tab')
  expect(tried.selected()).toBe('e')
  tried.press('tab')
  expect(tried.selected()).toBe('c')
  const none = new Tried([named('a')])
  none.press('tab')
  expect(none.text()).toContain('No session of this list waits for you.')
})

test('14.2.1 y and n only open the question, which shows all of it and takes the answer', () => {
  for (const key of ['y', 'n']) {
    const tried = new Tried(some())
    tried.press('tab')
    expect(tried.press(key)).toMatchObject({ type: 'ask', session: { label: 'c' } })
    tried.screen.openQuestions(named('c'), [asking('s_c')])
    expect(tried.text()).toContain('rm -rf build')
    expect(tried.press('y')).toMatchObject({ type: 'answer', requestId: 'r1', answer: { optionId: 'once' } })
    tried.screen.updateQuestions(named('c'), [])
    expect(tried.selected()).toBe('c')
  }
  const idle = new Tried(some())
  expect(idle.press('y')).toBeUndefined()
  expect(idle.text()).toContain('a asks nothing.')
})

test('14.2.1 a key that is held down opens a question and does not answer it', () => {
  const tried = new Tried(some())
  tried.press('tab', 'y')
  tried.screen.openQuestions(named('c'), [asking('s_c')])
  tried.rows()
  const answers: unknown[] = []
  for (let ms = 0; ms < 3_000; ms += 50) {
    tried.now += 50
    answers.push(tried.screen.key(keyOf('y'), tried.now))
    tried.rows()
  }
  expect(answers.filter((answer) => answer !== undefined)).toEqual([])
})

test('14.2.1 a question that is opened again must be read again', () => {
  const tried = new Tried(some())
  tried.press('tab', 'n')
  tried.screen.openQuestions(named('c'), [asking('s_c')])
  tried.press('escape', 'n')
  tried.screen.openQuestions(named('c'), [asking('s_c')])
  tried.rows()
  expect(tried.screen.key(keyOf('y'), tried.now + 100)).toBeUndefined()
  expect(tried.press('y')).toMatchObject({ type: 'answer' })
})

test('14.2.1 a question that was answered elsewhere closes, and the next one of the session opens', () => {
  const tried = new Tried(some())
  tried.press('tab', 'y')
  tried.screen.openQuestions(named('c'), [asking('s_c'), asking('s_c', 'r2')])
  expect(tried.text()).toContain('1 of 2')
  tried.screen.updateQuestions(named('c'), [asking('s_c', 'r2')])
  expect(tried.text()).not.toContain('of 2')
  expect(tried.press('n')).toMatchObject({ requestId: 'r2', answer: { optionId: 'no' } })
  tried.screen.updateQuestions(named('c'), [])
  expect(tried.text()).toContain('needs you')
})

test('14.2.1 questions that a person has left do not come back by themselves, and are not said to be gone', () => {
  const tried = new Tried(some())
  tried.press('tab', 'y')
  tried.screen.openQuestions(named('c'), [asking('s_c')])
  tried.press('escape')
  tried.screen.note('Answered c.')
  tried.screen.updateQuestions(named('c'), [asking('s_c'), asking('s_c', 'r2')])
  expect(tried.text()).not.toContain('rm -rf build')
  tried.screen.updateQuestions(named('c'), [])
  expect(tried.text()).toContain('Answered c.')
})

test('14.2.1 what comes late does not cover what the person opened meanwhile', () => {
  const tried = new Tried(some())
  tried.press('tab', 'y', 'p')
  tried.screen.openQuestions(named('c'), [asking('s_c')])
  expect(tried.text()).toContain('Prompt to c ❯')
})

test('14.2.1 x interrupts, p prompts, Enter attaches, d reads the changes', () => {
  const tried = new Tried(some())
  expect(tried.press('x')).toMatchObject({ type: 'interrupt', session: { label: 'a' } })
  expect(tried.press('return')).toMatchObject({ type: 'attach', session: { label: 'a' } })
  expect(tried.press('d')).toMatchObject({ type: 'diff', session: { label: 'a' } })
  tried.press('j')
  expect(tried.press('x')).toBeUndefined()
  tried.press('p')
  tried.type('q x y')
  tried.apply(named('0'))
  expect(tried.press('return')).toMatchObject({ type: 'prompt', text: 'q x y', session: { label: 'b' } })
  tried.press('p')
  expect(tried.press('escape')).toBeUndefined()
  tried.screen.restorePrompt(named('b'), 'refused')
  expect(tried.text()).toContain('Prompt to b ❯ refused')
})

test('14.2.1 K kills after a question, and k does not', () => {
  const tried = new Tried(some())
  tried.press('k', 'k')
  expect(tried.text()).not.toContain('Kill')
  tried.press('K')
  expect(tried.text()).toContain('Read first')
  tried.now += 300
  expect(tried.text()).toMatch(
    /\? Kill a with all its processes\?[\s\S]*Its running turn ends[\s\S]*y kills, n goes back/,
  )
  expect(tried.press('n')).toBeUndefined()
  tried.press('K')
  expect(tried.press('y')).toMatchObject({ type: 'kill', session: { label: 'a' } })
})

test('14.2.1 a confirmation takes no key that came before anybody could read it, and no paste', () => {
  const tried = new Tried(some())
  tried.press('K')
  expect(tried.screen.key(keyOf('y'), tried.now + 100)).toBeUndefined()
  expect(tried.screen.key({ name: 'paste', text: 'y', ctrl: false, meta: false }, tried.now + 2_000)).toBeUndefined()
  expect(tried.text()).toContain('Pasted text answers nothing')
})

test('14.2.1 a paste in the list does nothing', () => {
  const tried = new Tried(some())
  const before = tried.text()
  for (const name of ['paste-start', 'paste', 'paste-end'])
    expect(tried.screen.key({ name, text: 'xKq', ctrl: false, meta: false }, tried.now)).toBeUndefined()
  expect(tried.text()).toBe(before)
})

test('14.2.1 m says that there is nothing to merge without a worktree', () => {
  const tried = new Tried(some())
  expect(tried.press('m')).toBeUndefined()
  expect(tried.text()).toContain('has no worktree')
})

test.each(SIZES)('14.2.1 ? shows every key at %i×%i', (width, height) => {
  const tried = new Tried(some())
  Object.assign(tried, { width, height })
  tried.press('?')
  const seen = new Set(tried.rows())
  for (let step = 0; step < 40; step += 1) {
    tried.press('down')
    for (const row of tried.rows()) seen.add(row)
  }
  const help = [...seen].join('\n')
  expect(help).not.toContain('…')
  for (const [keys] of COCKPIT_KEYS) expect(help).toContain(`  ${keys} `)
  tried.press('q')
  expect(tried.text()).toContain('needs you')
})

test.each(SIZES)('14.2.1 the list fits %i×%i with long and wide names, also while typing', (width, height) => {
  const wide = '漢字 🎉'.repeat(20)
  const sessions = Array.from({ length: 60 }, (_, index) =>
    named(`${index}${wide}`, {
      workspaceSlug: `workspace-${index}-with-a-long-name`,
      ...(index % 3 === 0 ? waiting : busy),
    }),
  )
  const tried = new Tried(sessions)
  Object.assign(tried, { width, height })
  for (const each of sessions) tried.screen.list.setNote(each.id, `\u001B[2Jevil ${wide}`)
  expect(tried.text()).not.toContain('\u001B')
  tried.press('g', 'pagedown', 'p')
  tried.type(wide)
  tried.press('escape', '/', '漢', 'return', 'K')
  expect(tried.text()).toContain('Kill')
})

test('14.2.5 what ended more than a day ago is hidden and counted; e shows it', () => {
  const old = { status: 'killed', endedAt: '2026-11-19T10:00:00.000Z' } as const
  const tried = new Tried([...some(), named('y', old), named('z', old)])
  expect(tried.text()).toContain('2 ended hidden: e shows them')
  expect(tried.text()).not.toMatch(/ended +y /)
  tried.press('e')
  expect(tried.text()).not.toContain('hidden')
  expect(tried.rows()[0]).toContain('2 ended')
  expect(new Tried([named('y', old)], true).text()).not.toContain('hidden')
})

test('14.2.1 q, Escape and Ctrl-C quit', () => {
  expect(new Tried(some()).press('q')).toEqual({ type: 'quit' })
  expect(new Tried(some()).press('escape')).toEqual({ type: 'quit' })
  const tried = new Tried(some())
  expect(tried.screen.key({ name: 'c', ctrl: true, meta: false }, tried.now)).toEqual({ type: 'quit' })
})

test('14.2.1 with 500 sessions a frame renders only what is visible', () => {
  const triedWith = (count: number): Tried =>
    new Tried(Array.from({ length: count }, (_, index) => named(String.fromCodePoint(0x4e00 + index), busy)))
  const frames = ({ screen, now }: Tried): void => {
    for (let frame = 0; frame < 200; frame += 1) screen.view({ paint, width: 80, height: 24, now })
  }
  const [few, many] = [triedWith(25), triedWith(500)]
  expect(many.screen.list.visible.length).toBeLessThanOrEqual(24)
  frames(few)
  // Frames in which nothing changed: the layout of 500 rows would take 20 times as long.
  expect(processorMs(() => frames(many)) / processorMs(() => frames(few))).toBeLessThan(6)
})
