import type { Host } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { foundHosts } from '../web/hosts/found-hosts.js'

const host = (name: string, members: Partial<Host> = {}): Host => ({
  name,
  reachable: true,
  version: '1.0.0',
  labels: {},
  liveSessions: 0,
  freeSessions: 4,
  adapters: ['demo'],
  workspaces: [],
  lag: 0,
  lastSeen: '2026-01-01T00:00:00.000Z',
  ...members,
})

test('17.8 hosts that are away come first, the others by name; each word must be in what a host has', () => {
  const hosts = [
    host('tower', { labels: { gpu: 'yes' }, workspaces: ['shop'] }),
    host('laptop'),
    host('server', { reachable: false, labels: { gpu: 'yes' } }),
  ]
  const found = (words: string): readonly string[] => foundHosts(hosts, words).map(({ name }) => name)
  expect([found(''), found('GPU=yes shop'), found('unreachable'), found('demo 1.0'), found('nothing')]).toEqual([
    ['server', 'laptop', 'tower'],
    ['tower'],
    ['server'],
    ['server', 'laptop', 'tower'],
    [],
  ])
})

test('17.8 a host that was stopped comes after those that are lost, and is found by that word', () => {
  const hosts = [host('desk'), host('night', { reachable: false, stopped: true }), host('zeta', { reachable: false })]
  expect(foundHosts(hosts, '').map(({ name }) => name)).toEqual(['zeta', 'night', 'desk'])
  expect(foundHosts(hosts, 'stopped').map(({ name }) => name)).toEqual(['night'])
})
