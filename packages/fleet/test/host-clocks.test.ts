import { expect, test } from 'vitest'
import { HostClocks } from '../src/directory/host-clocks.ts'

const SERVER = 1_700_000_000_000

/** Clocks of host `a`, and a heartbeat of a host that is ahead of the server by so many seconds. */
function clocksOf() {
  const problems: string[] = []
  const clocks = new HostClocks('a', (problem) => void problems.push(problem))
  const heard = (host: string, ...seconds: readonly number[]): void => {
    for (const ahead of seconds) clocks.heard(host, SERVER + ahead * 1_000, SERVER)
  }
  return { clocks, problems, heard }
}

test('17.8 the clock of a host is known after three heartbeats of both, by that with the shortest way', () => {
  const { clocks, problems, heard } = clocksOf()
  heard('a', 0, 0)
  heard('b', 4, 4.9, 5)
  expect(clocks.aheadMs('b')).toBeUndefined()
  expect(clocks.ownAheadMs).toBeUndefined()
  heard('a', 0)
  expect([clocks.aheadMs('b'), clocks.ownAheadMs, clocks.aheadMs('a'), clocks.aheadMs('c')]).toEqual([
    5_000,
    0,
    undefined,
    undefined,
  ])
  heard('b', -8)
  expect(clocks.aheadMs('b')).toBe(5_000)
  expect(problems).toEqual([])
})

test('17.8 a difference is reported once, and again after the clocks agreed', () => {
  const { problems, heard } = clocksOf()
  heard('a', 0, 0, 0)
  heard('b', -30, -30, -30, -30, -30)
  expect(problems).toEqual([expect.stringContaining('The clock of the host b is 30 s behind that of this host.')])
  heard('b', 0, 0, 0)
  heard('b', 20)
  expect(problems).toEqual([expect.anything(), expect.stringContaining('20 s ahead of')])
})

test('17.8 one heartbeat that is late is no difference', () => {
  const { problems, heard } = clocksOf()
  heard('a', 0, 0, 0)
  heard('b', 0, 0, -60, 0, 0, -60, 0)
  expect(problems).toEqual([])
})

test('17.8 a wrong clock of this host is one problem, and not one for each of the others', () => {
  const { clocks, problems, heard } = clocksOf()
  heard('a', 30, 30, 30)
  for (let host = 0; host < 1_000; host++) heard(`b${host}`, 0, 0, 0)
  expect(problems).toEqual([
    expect.stringContaining('The clock of this host is 30 s ahead of that of the NATS server.'),
  ])
  expect(clocks.aheadMs('b7')).toBe(-30_000)
})

test('17.8 no more hosts are kept than a fleet has, and a forgotten one is gone', () => {
  const { clocks, heard } = clocksOf()
  heard('a', 0, 0, 0)
  for (let host = 0; host < 5_000; host++) heard(`b${host}`, 1, 1, 1)
  expect(clocks.aheadMs('b4998')).toBe(1_000)
  expect(clocks.aheadMs('b4999')).toBeUndefined()
  clocks.forget('b0')
  expect(clocks.aheadMs('b0')).toBeUndefined()
  heard('b4999', 1, 1, 1)
  expect(clocks.aheadMs('b4999')).toBe(1_000)
})
