import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { compileLaunch } from '@agentproto/manifest'
import type { AgentHost } from '@agentproto/driver-agent-cli'
import { expect, onTestFinished, test } from 'vitest'
import { agentEnvironment } from '../src/launch/agent-environment.ts'
import { host, small } from './small-agent.ts'

const { manifest } = small()
const compiled = compileLaunch(manifest, {})

const environment = (more: Partial<AgentHost> = {}, of = manifest): Record<string, string> =>
  agentEnvironment(of, { ...host, ...more }, { sessionId: 'ses_1', adapterSlug: 'small', compiled, env: {} })

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'driver-home-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const injectedNames = (env: Record<string, string>): string[] =>
  Object.keys(env)
    .filter((name) => name.startsWith('AGENTPROTO_'))
    .sort()

test('what is injected is what docs/environment.md says, name by name', () => {
  const page = readFileSync(new URL('../../../docs/environment.md', import.meta.url), 'utf8')
  const documented = [...page.matchAll(/^\| `(AGENTPROTO_[A-Z_]+)` \|/gm)].map(([, name]) => name)
  const env = environment({
    home: folder(),
    homes: 'isolated',
    url: () => 'http://127.0.0.1:7646',
    bin: '/opt/own/agentproto',
  })
  expect(new Set(injectedNames(env))).toEqual(new Set(documented))
})

test('what does not apply is not set, and never inherited from the host', () => {
  const env = environment({
    env: { ...host.env, AGENTPROTO_BIN: 'stale', AGENTPROTO_AGENT_HOME: 'stale', AGENTPROTO_TOKEN: 'owner’s' },
  })
  expect(injectedNames(env)).toEqual([
    'AGENTPROTO_AGENT',
    'AGENTPROTO_AGENT_NAME',
    'AGENTPROTO_ENV_POLICY',
    'AGENTPROTO_HOME_POLICY',
    'AGENTPROTO_MODEL',
    'AGENTPROTO_PROTOCOL',
    'AGENTPROTO_SESSION_ID',
  ])
  expect(env).toMatchObject({
    AGENTPROTO_ENV_POLICY: 'filtered',
    AGENTPROTO_HOME_POLICY: 'operator',
    HOME: '/home/user',
  })
})

test('the host’s own command line comes first on PATH, once', () => {
  const bin = '/opt/own/agentproto'
  const env = environment({ bin, env: { PATH: `/usr/bin:${dirname(bin)}:/bin` } })
  const folders = env['PATH']?.split(delimiter) ?? []
  expect(folders.slice(0, 3)).toEqual(['/opt/own', '/usr/bin', '/bin'])
  expect(folders).toEqual([...new Set(folders)])
  expect(env['AGENTPROTO_BIN']).toBe(bin)
})

test('F85 a private home is the agent’s for everything that names one, and is made for its owner alone', () => {
  const home = folder()
  const metadata = { agentproto: { homes: { SMALL_CONFIG_DIR: '.small', BAD: '../out', bad: 'x' } } }
  const env = environment(
    { home, homes: { small: 'isolated' }, env: { ...host.env, SMALL_CONFIG_DIR: '/mine' } },
    { ...manifest, metadata },
  )
  const own = join(home, 'homes/small')
  expect(env).toMatchObject({
    HOME: own,
    XDG_CONFIG_HOME: join(own, '.config'),
    XDG_DATA_HOME: join(own, '.local/share'),
    XDG_STATE_HOME: join(own, '.local/state'),
    XDG_CACHE_HOME: join(own, '.cache'),
    SMALL_CONFIG_DIR: join(own, '.small'),
    AGENTPROTO_HOME_POLICY: 'isolated',
    AGENTPROTO_AGENT_HOME: own,
  })
  expect(env).not.toHaveProperty('BAD')
  expect([existsSync(join(own, '.small')), statSync(own).mode & 0o777]).toEqual([true, 0o700])
})

test('F41 F56 a private home holds nothing of the operator’s, and is the same one at each start', () => {
  const home = folder()
  const operator = {
    ...host.env,
    XDG_CONFIG_HOME: '/home/user/.config',
    AGENTPROTO_HOME: home,
    AGENTPROTO_TOKEN: 'x',
  }
  const start = () => environment({ home, homes: 'isolated', env: operator })
  const first = start()
  const own = first['AGENTPROTO_AGENT_HOME'] ?? ''
  const places = Object.values(first).filter((value) => value.startsWith('/home/user'))
  expect([places, readdirSync(join(own, '.config')), first['AGENTPROTO_TOKEN']]).toEqual([[], [], undefined])
  writeFileSync(join(own, '.config', 'conversation.json'), '{}')
  expect(start()['HOME']).toBe(own)
  expect(readdirSync(join(own, '.config'))).toEqual(['conversation.json'])
})

test('a policy by adapter leaves the others in the operator’s home', () => {
  expect(environment({ homes: { other: 'isolated' } })).toMatchObject({ HOME: '/home/user' })
})

test('an agent is in the trace of its caller, never in that of the gateway’s own start', () => {
  const parent = { ...host, env: { ...host.env, TRACEPARENT: 'own', TRACESTATE: 'own=1' } }
  const start = { sessionId: 'ses_1', adapterSlug: 'small', compiled, env: {} }
  const untraced = agentEnvironment(manifest, parent, start)
  expect(untraced).not.toHaveProperty('TRACEPARENT')
  expect(untraced).not.toHaveProperty('TRACESTATE')
  const traced = agentEnvironment(manifest, parent, { ...start, trace: { traceparent: '00-a-b-01' } })
  expect(traced).toMatchObject({ TRACEPARENT: '00-a-b-01' })
  expect(traced).not.toHaveProperty('TRACESTATE')
})
