import { expect, test } from 'vitest'
import { ProcessTree } from '../src/process-tree.ts'
import { identify, markerIn, parsePs, parseStat, processTable, psTable } from '../src/process-table.ts'
import type { ProcessRow, ProcessTable } from '../src/process-table.ts'

test('a command with parentheses and spaces does not confuse the fields', () => {
  const rest = `S 10 20 30 0 -1 4194304 100 0 0 0 0 0 0 0 20 0 1 0 136767 3133440`
  expect(parseStat(5, `5 (a) S 1 (b c) ${rest}`)).toMatchObject({
    pid: 5,
    ppid: 10,
    pgid: 20,
    startTime: expect.stringMatching(/136767$/),
  })
  expect(parseStat(5, `5 (x) ${rest.replace('S', 'Z')}`)).toBeUndefined()
  expect(parseStat(5, '')).toBeUndefined()
})

test('ps is read the same way', () => {
  const text = '  12     1    12 Ss   Sat Nov 21 22:22:01 2026\n  13    12    12 Z    Sat Nov 21 22:22:02 2026\n'
  expect([...parsePs(text).values()]).toEqual([{ pid: 12, ppid: 1, pgid: 12, startTime: 'Sat Nov 21 22:22:01 2026' }])
})

test('ps finds this very process with its parent', () => {
  expect(psTable.one(process.pid)).toMatchObject({ pid: process.pid, ppid: process.ppid })
  expect(psTable.all().has(process.pid)).toBe(true)
  expect(psTable.one(2 ** 22 + 1)).toBeUndefined()
})

test('a process keeps its identity, and another has another', () => {
  expect(identify(process.pid)).toEqual(identify(process.pid))
  expect(identify(process.pid)?.startTime).not.toBe(identify(process.ppid)?.startTime)
  expect(processTable.all().get(process.pid)).toEqual(processTable.one(process.pid))
})

test('the marker is a variable of exactly that name', () => {
  expect(markerIn(Buffer.from('A=1\0AGENTPROTO_SESSION_ID=s1\0B=2'))).toBe('s1')
  expect(markerIn(Buffer.from('AGENTPROTO_SESSION_ID=s1'))).toBe('s1')
  expect(markerIn(Buffer.from('X_AGENTPROTO_SESSION_ID=no\0'))).toBeUndefined()
  expect(markerIn(Buffer.from('X_AGENTPROTO_SESSION_ID=no\0AGENTPROTO_SESSION_ID=yes\0'))).toBe('yes')
})

const row = (pid: number, ppid: number, pgid = pid): ProcessRow => ({ pid, ppid, pgid, startTime: `t${pid}` })

function table(rows: readonly ProcessRow[], markers: Record<number, string> = {}): ProcessTable {
  const all = new Map(rows.map((one) => [one.pid, one]))
  return { all: () => all, one: (pid) => all.get(pid), marker: (pid) => markers[pid] }
}

const leader = { pid: 500_000, startTime: 't500000' }
const pids = (rows: readonly ProcessRow[]): number[] => rows.map(({ pid }) => pid).sort((a, b) => a - b)

test('members are found by parent, by group and by marker', () => {
  const rows = [
    row(500_000, 1),
    row(500_001, 500_000),
    row(500_002, 500_001),
    row(500_003, 1, 500_000),
    row(500_004, 1),
    row(500_005, 1),
  ]
  const tree = new ProcessTree({ leader, marker: 'm' }, table(rows, { 500_004: 'm', 500_005: 'other' }))
  expect(pids(tree.collect())).toEqual([500_000, 500_001, 500_002, 500_003, 500_004])
})

test('F29 a pid that was reused by another process is no longer a member', () => {
  const rows = new Map([[500_000, row(500_000, 1)]])
  const changing: ProcessTable = { all: () => rows, one: (pid) => rows.get(pid), marker: () => undefined }
  const tree = new ProcessTree({ known: [leader] }, changing)
  expect(pids(tree.collect())).toEqual([500_000])
  rows.set(500_000, { ...row(500_000, 1), startTime: 'later' })
  expect(tree.collect()).toEqual([])
  expect(tree.remaining()).toEqual([])
})

test('the host and its ancestors are never members, whatever marker they have', () => {
  const rows = [row(process.pid, process.ppid), row(process.ppid, 1), row(500_001, 1)]
  const tree = new ProcessTree({ marker: 'm' }, table(rows, { [process.pid]: 'm', [process.ppid]: 'm', 500_001: 'm' }))
  expect(pids(tree.collect())).toEqual([500_001])
})
