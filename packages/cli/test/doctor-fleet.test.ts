import type { FleetState, GatewayInfo, Host } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { joinedFleet } from '../src/doctor/joined-fleet.js'

const NATS = { server: '10.0.0.5:4222', version: '2.10.1', servers: 3, replicas: 3 }

const gateway = (fleet?: Partial<FleetState>): GatewayInfo => ({
  version: '1.2.3',
  startedAt: '2026-11-23T10:00:00.000Z',
  host: 'machine',
  node: '20.20.2',
  platform: 'linux',
  budgets: { workspaces: {} },
  ...(fleet && { fleet: { host: 'desk', joined: true, lag: 0, nats: NATS, ...fleet } }),
})

const host = (name: string, fields: Partial<Host> = {}): Host => ({
  name,
  reachable: true,
  version: '1.2.3',
  labels: {},
  liveSessions: 0,
  freeSessions: 64,
  adapters: [],
  workspaces: [],
  lag: 0,
  lastSeen: '2026-11-23T10:00:00.000Z',
  ...fields,
})

const HOSTS = [host('desk', { self: true }), host('tower', { clockAheadMs: 9_000 })]

test('17.8 doctor says what the running gateway knows of its fleet', () => {
  expect(joinedFleet(gateway({ lag: 3 }), HOSTS)).toEqual({
    verdict: 'ok',
    detail: 'desk at nats-server 2.10.1, 3 servers, 3 replicas; 2 hosts; lag 3',
  })
  expect(joinedFleet(gateway({}), HOSTS.slice(0, 1))?.detail).toContain('; 1 host;')
  expect(joinedFleet(gateway(), HOSTS)).toBeUndefined()
})

test('17.8 doctor names hosts that are unreachable, and not those that were stopped', () => {
  const away = [...HOSTS, host('lost', { reachable: false }), host('off', { reachable: false, stopped: true })]
  expect(joinedFleet(gateway({}), away)).toMatchObject({
    verdict: 'ok',
    detail: expect.stringContaining('4 hosts, unreachable: lost;') as string,
  })
})

test('17.8 doctor says that a gateway is alone, and why', () => {
  const problem = 'No NATS server can be reached: connection refused'
  const { nats: _nats, ...alone } = { ...gateway({}).fleet, joined: false, problem, host: 'desk', lag: 0 }
  expect(joinedFleet({ ...gateway(), fleet: alone }, HOSTS)).toMatchObject({
    verdict: 'fail',
    detail: expect.stringMatching(/alone.*desk.*connection refused/) as string,
  })
  expect(joinedFleet(gateway({ joined: false }), HOSTS)).toMatchObject({
    verdict: 'fail',
    detail: expect.stringContaining('lease') as string,
  })
})

test.each([
  [11_000, 'tower is 11 s ahead'],
  [-45_000, 'tower is 45 s behind'],
])('17.8 doctor warns of a host whose clock is %i ms ahead', (clockAheadMs, says) => {
  expect(joinedFleet(gateway({}), [host('desk', { self: true }), host('tower', { clockAheadMs })])).toMatchObject({
    verdict: 'warn',
    detail: expect.stringContaining(says) as string,
    hint: expect.stringContaining('NTP') as string,
  })
})

test('17.8 doctor warns of the own clock, and before all else of clocks', () => {
  const found = joinedFleet(gateway({ clockAheadMs: -30_000, nats: { ...NATS, replicas: 1 } }), HOSTS)
  expect(found).toMatchObject({
    verdict: 'warn',
    detail: expect.stringContaining('this machine is 30 s behind') as string,
  })
})

test('17.8 doctor warns of a fleet that one of three servers stores, and not of one that has one server', () => {
  expect(joinedFleet(gateway({ nats: { ...NATS, replicas: 1 } }), HOSTS)).toMatchObject({
    verdict: 'warn',
    hint: expect.stringContaining('three replicas') as string,
  })
  expect(joinedFleet(gateway({ nats: { ...NATS, servers: 1, replicas: 1 } }), HOSTS)?.verdict).toBe('ok')
})

test('17.3 doctor warns where agents could run on while their gateway is frozen', () => {
  const unguarded = 'the keeper guards at most 4096 agents and processes that they share, and 3 more run'
  expect(joinedFleet(gateway({ unguarded }), HOSTS)).toMatchObject({
    verdict: 'warn',
    detail: expect.stringContaining(`; ${unguarded}`) as string,
    hint: expect.stringContaining('docs/keeper.md') as string,
  })
})
