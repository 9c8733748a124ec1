import { type AdapterSummary, AgentprotoError } from '@agentproto/client'
import type { Host } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { agentsAt, candidatesOf, labelsOf, lacksIn, placementText, workspacesAt } from '../web/sessions/placement.js'

const host = (name: string, members: Partial<Host> = {}): Host => ({
  name,
  reachable: true,
  version: '1.0.0',
  labels: {},
  liveSessions: 0,
  freeSessions: 4,
  adapters: [],
  workspaces: [],
  lag: 0,
  lastSeen: '2026-01-01T00:00:00.000Z',
  ...members,
})

const HOSTS = [
  host('laptop', { self: true, adapters: ['demo'], workspaces: ['shop'], labels: { gpu: 'no' } }),
  host('tower', { adapters: ['demo', 'own'], workspaces: ['shop', 'models'], labels: { gpu: 'yes', rack: 'a=b' } }),
  host('server', { adapters: ['other'], workspaces: ['site'], labels: { gpu: 'yes' }, reachable: false }),
]

const adapter = (slug: string, installed: boolean): AdapterSummary => ({
  slug,
  name: slug,
  description: '',
  version: '1.0.0',
  protocol: 'acp',
  installed,
  source: 'bundled',
  modes: [],
  modeDescriptions: {},
  models: {},
  options: [],
  session: { mode: 'resumable' },
})

const names = (on: string): readonly string[] => candidatesOf(on, HOSTS).map(({ name }) => name)

test('17.8 a placement is this host, a name, a label or any', () => {
  expect(['', 'tower', 'gpu=yes', 'rack=a=b', 'any', 'gone', 'gpu=maybe'].map(names)).toEqual([
    ['laptop'],
    ['tower'],
    ['tower', 'server'],
    ['tower'],
    ['laptop', 'tower', 'server'],
    [],
    [],
  ])
  expect(labelsOf(HOSTS)).toEqual(['gpu=no', 'gpu=yes', 'rack=a=b'])
})

test('17.8 the agents that are offered are those of the chosen host, also such that this one does not know', () => {
  const adapters = [adapter('demo', false), adapter('other', true)]
  const offered = (on: string) => agentsAt(on, HOSTS, adapters).filter(({ isInstalled }) => isInstalled)
  expect(offered('').map(({ slug }) => slug)).toEqual(['other'])
  expect(offered('tower').map(({ slug, adapter: known }) => [slug, known !== undefined])).toEqual([
    ['demo', true],
    ['own', false],
  ])
  expect(offered('any').map(({ slug }) => slug)).toEqual(['demo', 'other', 'own'])
  // Nothing is known of it: the gateway refuses it by its name.
  expect(offered('gone').map(({ slug }) => slug)).toEqual(['other'])
})

test('17.8 the workspaces that are offered are those of the chosen host, with folders only where they are known', () => {
  const at = '2026-01-01T00:00:00.000Z'
  const shop = { slug: 'shop', path: '/shop', addedAt: at, updatedAt: at }
  const file = { version: 1, active: 'shop', workspaces: [shop] } as const
  const offered = (on: string) => workspacesAt(on, HOSTS, file).map(({ slug, text }) => `${slug}: ${text}`)
  expect(offered('')).toEqual(['shop: shop (/shop)'])
  expect(offered('gpu=yes')).toEqual([': the active one of the host', 'models: models', 'shop: shop', 'site: site'])
})

test('17.8 a placement says how many hosts it means, and whether they are heard from', () => {
  expect(placementText('tower', HOSTS)).toBe('0 live sessions, 4 free places')
  expect(placementText('server', HOSTS)).toContain('Not heard from since')
  expect(placementText('gpu=yes', HOSTS)).toBe('It runs on tower.')
  expect(placementText('any', HOSTS)).toContain('The one of 2 hosts')
  expect(placementText('any', HOSTS.slice(2))).toBe('None of these hosts is heard from.')
  expect([placementText('gone', HOSTS), placementText('gpu=maybe', HOSTS)]).toEqual([
    'No host has this name.',
    'No host has this label.',
  ])
})

test('17.8 what hosts lack is read from a refused placement, and from nothing else', () => {
  const refused = (code: 'placement_refused' | 'host_not_found', hosts: unknown) =>
    lacksIn(new AgentprotoError(code, 'refused', { data: { hosts } }))
  expect(refused('placement_refused', { tower: ['a free place'], bad: 'text' })).toEqual([
    { host: 'tower', lacks: ['a free place'] },
  ])
  expect(refused('host_not_found', { tower: ['a free place'] })).toEqual([])
  expect([refused('placement_refused', null), lacksIn(new Error('other'))]).toEqual([[], []])
})
