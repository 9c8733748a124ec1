import { expect, test } from 'vitest'
import type { Session } from '@agentproto/contracts'
import { cut, pad } from '../src/render/fit.js'
import { createPaint } from '../src/render/paint.js'
import { printable } from '../src/render/printable.js'
import { inOrder, nextKey, SORT_KEYS, type SessionOrder, type SortKey } from '../src/render/session-order.js'
import { renderSessions } from '../src/render/sessions-table.js'
import { session } from './samples.js'

const paint = createPaint(false)
const now = Date.parse('2026-11-21T10:10:00.000Z')
const table = (sessions: readonly Session[], width: number, lastLines = new Map<string, string>()): string[] =>
  renderSessions({ sessions, width, paint, now, lastLines })

test('the table shows the sessions and their states', () => {
  const sessions = [
    session({
      id: 's_abcdefgh123456',
      label: 'try',
      turn: { number: 2, state: 'busy' },
      turnCount: 2,
      lastOutputAt: '2026-11-21T10:09:30.000Z',
    }),
    session({
      id: 's_zyxwvuts123456',
      status: 'error',
      failure: { kind: 'startup_failure', summary: 'no such\nfile' },
    }),
    session({ id: 's_11111111123456', pendingRequests: 1, workspaceSlug: 'shop' }),
  ]
  expect(table(sessions, 120, new Map([['s_abcdefgh123456', 'reading README.md']]))).toMatchInlineSnapshot(`
    [
      "ID          TITLE  ADAPTER  WORKSPACE  STATE    TURNS  AGE  LAST OUTPUT",
      "s_abcdefgh  try    demo     default    busy         2  10m  30s ago  reading README.md",
      "s_zyxwvuts  –      demo     default    failed       0  10m  no such file",
      "s_11111111  –      demo     shop       waiting      0  10m  –",
    ]
  `)
})

test.each([120, 80, 60, 40])('no row is wider than a terminal of %i columns', (width) => {
  const title = 'a very long title that nobody would want to read to its end, with 漢字 in it'
  for (const line of table([session({ label: title, workspaceSlug: 'a-rather-long-workspace-name' })], width)) {
    expect(line.length).toBeLessThanOrEqual(width)
  }
})

test('a narrow terminal keeps the id and the state', () => {
  expect(table([session({ id: 's_abcdefgh123456', label: 'a title of some length' })], 48).join('\n'))
    .toMatchInlineSnapshot(`
    "ID          TITLE            ADAPTER  STATE  AGE
    s_abcdefgh  a title of som…  demo     idle   10m"
  `)
})

test('an empty list names the command to run', () => {
  expect(table([], 80)[0]).toContain('agentproto sessions start')
})

test('wide characters count as two columns', () => {
  expect(cut('漢字漢字', 5)).toBe('漢字…')
  expect(pad('漢', 4)).toBe('漢  ')
  expect(cut('abc', 3)).toBe('abc')
  expect(pad('7', 3, 'right')).toBe('  7')
})

test('control sequences of an agent never reach the terminal', () => {
  expect(printable('a\u001B[31mred\u001B[0m\u009B2Jb\r\tX\n')).toBe('aredb  X\n')
  expect(table([session({ label: '\u001B[2Jevil\nname' })], 80).join('')).not.toContain('\u001B')
})

const sortable = [
  session({ id: 's_1', startedAt: '2026-11-21T10:00:00.000Z', label: 'pear', adapterSlug: 'opencode' }),
  session({ id: 's_2', startedAt: '2026-11-21T10:01:00.000Z', turn: { number: 1, state: 'busy' } }),
  session({
    id: 's_3',
    startedAt: '2026-11-21T10:02:00.000Z',
    title: 'apple',
    status: 'killed',
    lastOutputAt: '2026-11-21T10:03:00.000Z',
  }),
  session({
    id: 's_4',
    startedAt: '2026-11-21T09:00:00.000Z',
    label: 'quince',
    pendingRequests: 1,
    lastOutputAt: '2026-11-21T10:04:00.000Z',
  }),
]
const sortedIds = (key: SortKey, isReversed: boolean): string =>
  inOrder(sortable, { key, isReversed })
    .map(({ id }) => id.slice(2))
    .join('')

test.each<[SortKey, string, string]>([
  ['age', '3214', '4123'],
  ['state', '4213', '3124'],
  ['title', '3142', '2413'],
  ['adapter', '3241', '1324'],
  ['activity', '4321', '2134'],
])('sorted by %s', (key, forward, reversed) => {
  expect([sortedIds(key, false), sortedIds(key, true)]).toEqual([forward, reversed])
})

test('each sort key marks its column and the direction', () => {
  const titles = (order: SessionOrder): string =>
    renderSessions({ sessions: sortable, width: 120, paint, now, order })[0] ?? ''
  const marked = SORT_KEYS.map((key) => /(\S+) ▾/.exec(titles({ key, isReversed: false }))?.[1])
  expect(marked).toEqual(['AGE', 'STATE', 'TITLE', 'ADAPTER', 'OUTPUT'])
  expect(titles({ key: 'state', isReversed: true })).toContain('STATE ▴')
})

test('s steps through all sort keys, each in its default direction', () => {
  let order: SessionOrder = { key: 'age', isReversed: true }
  const seen = SORT_KEYS.map(() => (order = nextKey(order)))
  expect(seen.map(({ key }) => key)).toEqual([...SORT_KEYS.slice(1), 'age'])
  expect(seen.every(({ isReversed }) => !isReversed)).toBe(true)
})
