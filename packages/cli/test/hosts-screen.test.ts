import type { Host } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { HostsScreen } from '../src/hosts-screen.js'
import { columnsOf } from '../src/render/fit.js'
import { createPaint } from '../src/render/paint.js'
import { key } from './attach-driver.js'

const NOW = Date.parse('2026-11-23T10:00:00.000Z')

const host = (name: string, fields: Partial<Host> = {}): Host => ({
  name,
  reachable: true,
  version: '1.2.3',
  labels: {},
  liveSessions: 1,
  freeSessions: 63,
  adapters: ['demo'],
  workspaces: ['shop'],
  lag: 0,
  lastSeen: new Date(NOW - 2_000).toISOString(),
  ...fields,
})

const fleet = (count: number, fields: Partial<Host> = {}): Host[] =>
  Array.from({ length: count }, (_, index) => host(`host-${String(index + 1).padStart(3, '0')}`, fields))

const rowsOf = (screen: HostsScreen, width: number, height = 24): string[] =>
  screen.rows({ width, height, now: NOW, paint: createPaint(false) })

test.each([
  [40, / · 1 un…$/],
  [60, /1 unreachable: z$/],
  [80, /1 unreachable: z$/],
  [200, /1 unreachable: z$/],
])('17.1 a hundred hosts with long names and labels fit in %i columns, below the titles', (width, end) => {
  const long = { labels: { rack: 'r'.repeat(128), zone: '漢字'.repeat(60) }, adapters: ['claude-code', 'opencode'] }
  const hosts = [...fleet(98, long), host('h'.repeat(63), { ...long, self: true }), host('z', { reachable: false })]
  const rows = rowsOf(new HostsScreen(hosts), width)
  expect(rows).toHaveLength(24)
  for (const row of rows) expect(columnsOf(row)).toBeLessThanOrEqual(width)
  expect(rows[0]).toMatch(/HOST +SEEN +LIVE +FREE/)
  expect(rows[1]).toMatch(/host-001 +2s +1 +63/)
  expect(rows.at(-1)).toContain('q quits · 1–22 of 100, ↑↓ scroll')
  expect(rows.at(-1)).toMatch(end)
})

test('17.1 keys scroll as far as there are hosts, and a host that leaves moves the last page', () => {
  const screen = new HostsScreen(fleet(100))
  const shown = (): (string | undefined)[] => {
    const rows = rowsOf(screen, 80, 12)
    return [rows[1], rows.at(-2)].map((row) => row?.trim().split(' ')[0])
  }
  expect(shown()).toEqual(['host-001', 'host-010'])
  for (const [name, expected] of [
    ['up', ['host-001', 'host-010']],
    ['down', ['host-002', 'host-011']],
    ['pagedown', ['host-012', 'host-021']],
    ['end', ['host-091', 'host-100']],
    ['down', ['host-091', 'host-100']],
    ['home', ['host-001', 'host-010']],
    ['end', ['host-091', 'host-100']],
  ] as const) {
    expect(screen.key(key(name))).toBe(false)
    expect(shown()).toEqual(expected)
  }
  screen.show(fleet(95))
  expect(shown()).toEqual(['host-086', 'host-095'])
  expect(screen.key(key('c', { ctrl: true }))).toBe(true)
})

test('17.1 a host that is lost is marked at any width; when the gateway is away, the hosts stay with the reason', () => {
  const lastSeen = new Date(NOW - 60_000).toISOString()
  const screen = new HostsScreen([host('one', { self: true }), host('tower', { reachable: false, lastSeen })])
  expect(rowsOf(screen, 100)[2]).toMatch(/^! {2}tower +1m, unreachable/)
  expect(rowsOf(screen, 32)[2]).toMatch(/^! {2}tower/)
  screen.fail('The gateway does not answer.')
  const rows = rowsOf(screen, 100)
  expect(rows[1]).toMatch(/^\* {2}one/)
  expect(rows.at(-1)).toBe('The gateway does not answer.')
  screen.show([host('one')])
  expect(rowsOf(screen, 100).at(-1)).toBe('q quits')
})

test('17.1 a host that was stopped is shown as that, and not counted as unreachable', () => {
  const away = { reachable: false, lastSeen: new Date(NOW - 180_000).toISOString() }
  const rows = rowsOf(new HostsScreen([host('lost', away), host('off', { ...away, stopped: true })]), 100)
  expect(rows[1]).toMatch(/^! {2}lost +3m, unreachable /)
  expect(rows[2]).toMatch(/^- {2}off +3m, stopped /)
  expect(rows.at(-1)).toMatch(/ · 1 unreachable: lost$/)
})
