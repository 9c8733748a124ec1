import { isAgentprotoError, type Principal } from '@agentproto/contracts'
import type { Host } from '@agentproto/contracts/wire'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { placeSession } from '../src/services/placement.js'

type PlacedRequest = Parameters<typeof placeSession>[0]

const owner: Principal = { type: 'owner', name: 'owner' }
const agent: Principal = { type: 'session', name: 'session s1', sessionId: 's1', delegates: true }

const host = (name: string, more: Partial<Host> = {}): Host => ({
  name,
  reachable: true,
  version: '1.0.0',
  labels: {},
  liveSessions: 0,
  freeSessions: 8,
  adapters: ['demo'],
  workspaces: ['shop'],
  lag: 0,
  lastSeen: '2026-11-23T00:00:00.000Z',
  ...more,
})
const own = host('a', { self: true })

const placed = (request: Partial<PlacedRequest>, hosts: readonly Host[], by: Principal = owner): string =>
  placeSession({ adapter: 'demo', ...request }, hosts, by).name

/** Code, and what each host lacks. */
function refusal(request: Partial<PlacedRequest>, hosts: readonly Host[], by: Principal = owner): readonly unknown[] {
  try {
    return ['placed', placed(request, hosts, by)]
  } catch (error) {
    if (!isAgentprotoError(error)) throw error
    return [error.code, error.parts.data?.['hosts'] ?? error.parts.data?.['host']]
  }
}

test('17.5 without a place it is the host that was asked, whatever it lacks', () => {
  const full = host('a', { self: true, adapters: [], freeSessions: 0 })
  expect(placed({}, [full, host('b')])).toBe('a')
})

test('17.5 a host is chosen by its name, and what it lacks is named', () => {
  expect(placed({ on: 'b', workspaceSlug: 'shop' }, [own, host('b')])).toBe('b')
  const poor = host('b', { adapters: [], workspaces: [], freeSessions: 0 })
  expect(refusal({ on: 'b', workspaceSlug: 'shop' }, [own, poor])).toEqual([
    'placement_refused',
    { b: ['the agent demo', 'the workspace shop', 'a free place'] },
  ])
  expect(refusal({ on: 'c' }, [own])).toEqual(['host_not_found', undefined])
  expect(refusal({ on: 'b' }, [own, host('b', { reachable: false })])).toEqual(['host_unreachable', 'b'])
})

test('17.5 any is the host with the most free places that has the agent and the workspace', () => {
  const hosts = [
    host('a', { self: true, freeSessions: 2 }),
    host('b', { freeSessions: 9, adapters: [] }),
    host('c', { freeSessions: 8, workspaces: [] }),
    host('d', { freeSessions: 7, reachable: false }),
    host('e', { freeSessions: 6 }),
  ]
  expect(placed({ on: 'any', workspaceSlug: 'shop' }, hosts)).toBe('e')
  expect(placed({ on: 'any' }, hosts)).toBe('c')
  expect(placed({ on: 'any' }, [host('b'), own])).toBe('a')
})

test('17.5 a label chooses among the hosts that have it, and a refusal says what is missing where', () => {
  const hosts = [own, host('b', { labels: { gpu: 'yes' }, freeSessions: 1 }), host('c', { labels: { gpu: 'no' } })]
  expect(placed({ on: 'gpu=yes' }, hosts)).toBe('b')
  expect(placed({ on: 'gpu=no' }, hosts)).toBe('c')
  expect(refusal({ on: 'gpu=yes', adapter: 'other' }, hosts)).toEqual([
    'placement_refused',
    {
      a: ['the label gpu=yes', 'the agent other'],
      b: ['the agent other'],
      c: ['the label gpu=yes', 'the agent other'],
    },
  ])
  for (const on of ['constructor=x', '__proto__=x', 'toString=', '=', '=x'])
    expect(refusal({ on }, [own])[0]).toBe('placement_refused')
})

test('17.5 what an agent starts runs on the host of the agent', () => {
  const hosts = [host('a', { self: true, labels: { gpu: 'yes' }, freeSessions: 1 }), host('b', { freeSessions: 9 })]
  for (const on of [undefined, 'any', 'a', 'gpu=yes'])
    expect(placed(on === undefined ? {} : { on }, hosts, agent)).toBe('a')
  for (const on of ['b', 'gpu=no']) expect(refusal({ on }, hosts, agent)[0]).toBe('placement_refused')
  expect(refusal({ on: 'c' }, hosts, agent)[0]).toBe('host_not_found')
})

test('17.5 the same idempotency key gives the same host, also when places were taken meanwhile', () => {
  const free = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 4, maxLength: 4 })
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), free, free, (idempotencyKey, before, after) => {
      const hosts = (places: readonly number[]): Host[] =>
        places.map((freeSessions, at) => host(`h${at}`, { freeSessions, ...(at === 0 && { self: true as const }) }))
      const request = { on: 'any', idempotencyKey }
      expect(placed(request, hosts(before))).toBe(placed(request, hosts(after)))
    }),
  )
})

test('17.5 no host that lacks something is ever chosen', () => {
  const anyHost = fc.record({
    reachable: fc.boolean(),
    freeSessions: fc.integer({ min: 0, max: 2 }),
    adapters: fc.constantFrom(['demo'], []),
    workspaces: fc.constantFrom(['shop'], []),
    labels: fc.constantFrom({ gpu: 'yes' }, {}),
  })
  fc.assert(
    fc.property(fc.array(anyHost, { maxLength: 6 }), (others) => {
      const hosts = [host('self', { self: true, labels: {} }), ...others.map((each, at) => host(`h${at}`, each))]
      const [code, name] = refusal({ on: 'gpu=yes', workspaceSlug: 'shop' }, hosts)
      const can = hosts.filter(
        ({ reachable, freeSessions, adapters, workspaces, labels }) =>
          reachable && freeSessions > 0 && adapters.length > 0 && workspaces.length > 0 && labels['gpu'] === 'yes',
      )
      const names = can.map((each) => each.name)
      expect(
        code === 'placed' ? names.includes(String(name)) : names.length === 0 && code === 'placement_refused',
      ).toBe(true)
    }),
  )
})
