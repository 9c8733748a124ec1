import { expect, test } from 'vitest'
import type { Session } from '@agentproto/contracts'
import { columnsOf, cut, pad } from '../src/render/fit.js'
import { createPaint } from '../src/render/paint.js'
import { printable } from '../src/render/printable.js'
import { inOrder, nextKey, SORT_KEYS, type SessionOrder, type SortKey } from '../src/render/session-order.js'
import { renderSessions } from '../src/render/sessions-table.js'
import { noSessions } from '../src/session-list-options.js'
import { session } from './samples.js'

const paint = createPaint(false)
const now = Date.parse('2026-11-21T10:10:00.000Z')
const table = (sessions: readonly Session[], width: number, notes = new Map<string, string>()): string[] =>
  renderSessions({ sessions, width, paint, now, notes })

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
      "STATE    LABEL       DOING              WORKSPACE  AGENT  AGE  ID",
      "busy     try         reading README.md  default    demo   10m  s_abcdefgh",
      "failed   s_zyxwvuts  no such file       default    demo   10m  s_zyxwvuts",
      "waiting  s_11111111  ? an answer        shop       demo   10m  s_11111111",
    ]
  `)
})

test('17.6 a session whose host is not heard from is shown so, whatever it last did', () => {
  const [, row] = table([{ ...session({ hostId: 'tower', pendingRequests: 1 }), state: 'unreachable' }], 120)
  expect(row).toMatch(/^unreachable .* since tower is not heard from /)
})

test('17.8 the host has a column where the sessions are of several', () => {
  const on = (hostId: string): Session => session({ hostId })
  expect(table([on('tower'), on('tower')], 120)[0]).not.toContain('HOST')
  const [titles, first, second] = table([on('tower'), on('desk')], 120)
  expect([titles, first, second].join('\n')).toMatch(/HOST [^\n]*\n.* tower .*\n.* desk /)
})

test.each([300, 120, 80, 60, 50, 40])('no row is wider than a terminal of %i columns', (width) => {
  const title = 'a very long title that nobody would want to read to its end, with 漢字 in it'
  for (const line of table([session({ label: title, workspaceSlug: 'a-rather-long-workspace-name' })], width)) {
    expect(line.length).toBeLessThanOrEqual(width)
  }
})

test('14.2.1 one line shows state, label, what it waits for, workspace, agent, age, changes and cost, at any width', () => {
  const busyMs = 1_000
  const used = { turns: 1, unreported: 0, withoutTokens: 0, withoutCost: 0, busyMs }
  const sessions = [
    session({
      label: 'fix the cart',
      pendingRequests: 1,
      changes: { files: 1, additions: 12, deletions: 3 },
      usage: { ...used, cost: [{ amount: 1.5, currency: 'USD' }] },
    }),
    session({ title: 'a title of the agent', status: 'exited', stopReason: 'idle', resumable: true }),
  ]
  const notes = new Map([['s_abcdefgh123456', 'rm -rf build · Clean up the folder before the build']])
  const shown = (width: number): string[] => {
    const rows = renderSessions({ sessions: sessions.slice(0, 1), notes, now, paint, width })
    for (const row of rows) expect(columnsOf(row)).toBeLessThanOrEqual(width)
    return rows
  }
  expect(table(sessions, 160)).toMatchInlineSnapshot(`
    [
      "STATE    LABEL                            DOING                                         WORKSPACE  AGENT  AGE  CHANGES   COST  ID",
      "waiting  fix the cart                     ? an answer                                   default    demo   10m   +12 −3  $1.50  s_abcdefgh",
      "asleep   s_abcdefgh a title of the agent  it had been idle; the next prompt resumes it  default    demo   10m        –      –  s_abcdefgh",
    ]
  `)
  const titles = [300, 120, 100, 88, 76, 64, 50, 40, 30, 24].map((width) => shown(width)[0])
  expect(titles).toMatchInlineSnapshot(`
    [
      "STATE    LABEL         DOING                                                  WORKSPACE  AGENT  AGE  CHANGES   COST  ID",
      "STATE    LABEL         DOING                                           WORKSPACE  AGENT  AGE  CHANGES   COST  ID",
      "STATE    LABEL         DOING                       WORKSPACE  AGENT  AGE  CHANGES   COST  ID",
      "STATE    LABEL         DOING           WORKSPACE  AGENT  AGE  CHANGES   COST  ID",
      "STATE    LABEL         DOING           WORKSPACE  AGENT  AGE  CHANGES   COST",
      "STATE    LABEL         DOING             WORKSPACE  AGE  CHANGES",
      "STATE    LABEL         DOING                   AGE",
      "STATE    LABEL         DOING",
      "STATE    LABEL",
      "STATE    LABEL",
    ]
  `)
})

test('a session without a label is named by the start of its id, then its title', () => {
  expect(table([session({ title: 'a title' })], 80)[1]).toMatch(/^idle +s_abcdefgh a title/)
})

test('14.2.5 an empty list names the command that starts a session, or that shows those which do not match', () => {
  expect(noSessions({ all: true })).toBe('No sessions. Start one with: agentproto sessions start demo')
  for (const filter of [{ alive: true }, { workspace: 'shop' }, { since: 0 }])
    expect(noSessions(filter)).toBe('No session matches these options. To list all: agentproto sessions --all')
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
  expect(marked).toEqual(['AGE', 'STATE', 'LABEL', 'AGENT', 'DOING'])
  expect(titles({ key: 'state', isReversed: true })).toContain('STATE ▴')
})

test('s steps through all sort keys, each in its default direction', () => {
  let order: SessionOrder = { key: 'age', isReversed: true }
  const seen = SORT_KEYS.map(() => (order = nextKey(order)))
  expect(seen.map(({ key }) => key)).toEqual([...SORT_KEYS.slice(1), 'age'])
  expect(seen.every(({ isReversed }) => !isReversed)).toBe(true)
})
