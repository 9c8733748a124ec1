import { join } from 'node:path'
import { createProvisioner, type ProvisionHost } from '@agentproto/provisioning'
import { launchProvisioning } from '@agentproto/provisioning/launch'
import { examineAgent } from '@agentproto/provisioning/doctor'
import type { AgentCliDocument } from '@agentproto/manifest'
import { expect, test } from 'vitest'
import { ledgerFile } from '../src/ledger.js'
import {
  adapterOf,
  hostOf,
  type Outcome,
  program,
  provision,
  type TestHost,
  textAt,
  versionProgram,
} from './test-host.ts'

type Auth = NonNullable<AgentCliDocument['auth']>

function readyHost(more: Partial<ProvisionHost> = {}): TestHost {
  const host = hostOf(more)
  program(host.bin, 'agent-tool', versionProgram('1.0.0'))
  program(host.bin, 'sign-in', `#!/bin/sh\necho "signing in"\n[ "$1" = fail ] && exit 9\ntouch ${host.home}/signed\n`)
  program(host.bin, 'who', `#!/bin/sh\ntest -e ${host.home}/signed\n`)
  return host
}

const SECRETS =
  '  - { slug: acme/token, name: Token, description: A token, exposures: [{ kind: env, name: ACME_TOKEN }] }\n'

async function logIn(auth: Auth, host: ProvisionHost, more: object = {}): Promise<Outcome> {
  return provision(createProvisioner(await adapterOf({ auth }, { secrets: SECRETS }), host), {
    until: 'login',
    ...more,
  })
}

const stateAfter = ({ events }: Outcome): unknown => {
  const last = events.at(-1)
  return last?.type === 'state' ? last.state.auth : undefined
}

test('a login is run, and what its own check says counts', async () => {
  const host = readyHost()
  const auth: Auth = { login: { cmd: 'sign-in', completes_when: { cmd: 'who' } } }
  const outcome = await logIn(auth, host)
  expect(outcome.error).toBeUndefined()
  expect(stateAfter(outcome)).toBe('authed')
  expect(outcome.events).toContainEqual({ type: 'output', stream: 'stdout', line: 'signing in' })
  const again = await logIn(auth, host)
  expect(again.events).toContainEqual({ type: 'phase', phase: 'login', state: 'skipped', detail: 'it is logged in' })
})

test('a login that a launch has found expired is valid again when its own check says so', async () => {
  const host = readyHost()
  const auth: Auth = { login: { cmd: 'sign-in', completes_when: { cmd: 'who' } } }
  await logIn(auth, host)
  const { id } = (await adapterOf({ auth })).manifest
  await launchProvisioning.loginExpired(id, host)
  expect((await ledgerFile(id, host).readOrMoveAside()).auth).toMatchObject({ state: 'unauthed' })
  const outcome = await logIn(auth, host)
  expect(outcome.events).toContainEqual({ type: 'phase', phase: 'login', state: 'skipped', detail: 'it is logged in' })
  expect((await ledgerFile(id, host).readOrMoveAside()).auth).toMatchObject({ state: 'authed' })
})

test.each([
  ['one that fails', { cmd: 'sign-in fail' }, 'ended with 9'],
  ['one whose check still says no', { cmd: 'true', completes_when: { cmd: 'who' } }, 'still is not'],
  ['one that needs a terminal where there is none', { cmd: 'sign-in', interactive: true }, 'needs a terminal'],
  ['one that needs a browser where there is none', { cmd: 'sign-in', requires_callback_url: true }, 'needs a terminal'],
] as const)('%s is auth_required with the command', async (_, login, why) => {
  const { error } = await logIn({ login }, readyHost())
  expect(error).toMatchObject({ code: 'auth_required', parts: { data: { login: login.cmd } } })
  expect(error?.message).toContain(why)
  expect(error?.message).toContain('agentproto adapters login tool')
})

test('an interactive login gets the terminal', async () => {
  const ran: string[] = []
  const terminal = {
    ask: () => Promise.reject(new Error('nothing is asked')),
    show: () => undefined,
    run: ({ file }: { file: string }) => Promise.resolve(ran.push(file) - 1),
  }
  const outcome = await logIn({ login: { cmd: 'sign-in', interactive: true } }, readyHost({ terminal }))
  expect(stateAfter(outcome)).toBe('authed')
  expect(ran).toEqual([expect.stringMatching(/\/sign-in$/)])
})

test.each([
  ['nothing is asked of one without auth', undefined, {}, 'not_needed'],
  ['a variable of the manifest is a login', { state: { env: ['ACME_KEY'] } }, { ACME_KEY: 'x' }, 'authed'],
  ['a secret that the environment has is a login', { ref: './SECRETS.md' }, { ACME_TOKEN: 'x' }, 'authed'],
  ['without either it is none', { ref: './SECRETS.md', state: { env: ['ACME_KEY'] } }, {}, 'unauthed'],
  ['a file in the home is a login', { state: { paths: ['~/.tool/auth.json'] } }, {}, 'authed'],
  ['so is one below a variable', { state: { paths: ['$ACME_DIR/auth.json'] } }, { ACME_DIR: 'HOME/.tool' }, 'authed'],
  ['a file that is not there is none', { state: { paths: ['~/nowhere'] } }, {}, 'unauthed'],
  ['where there is nothing to look at, nothing is claimed', { login: { cmd: 'sign-in' } }, {}, 'unknown'],
] as const)('%s', async (_, auth, env, expected) => {
  const plain = hostOf()
  const own = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replace('HOME', plain.home)]))
  const host = readyHost({ home: plain.home, env: own })
  program(join(host.home, '.tool'), 'auth.json', '{}')
  const adapter = await adapterOf(auth === undefined ? {} : { auth }, { secrets: SECRETS })
  expect((await createProvisioner(adapter, host).state()).auth).toBe(expected)
})

test('without a login command, the ways to log in are named', async () => {
  const { error } = await logIn({ ref: './SECRETS.md' }, readyHost())
  expect(error).toMatchObject({ code: 'auth_required' })
  expect(error?.message).toContain('agentproto secrets set acme/token')
})

test('where the manifest names no way to log in, the program is named that may have one', async () => {
  const host = readyHost()
  const { error } = await logIn({ state: {} }, host)
  expect(error).toMatchObject({ code: 'auth_required' })
  expect(error?.message).toContain(`Log in with its own program, if it can: ${host.bin}/agent-tool`)
  expect(error?.message).toContain('agentproto adapters show tool')
  const isolated = readyHost({ homes: 'isolated' })
  const { error: other } = await logIn({ state: {} }, isolated)
  expect(other?.message).toContain(`HOME=${isolated.home}/homes/tool`)
})

test.each([
  [
    'the check that starts one, where the manifest names no way to log in',
    { state: {} },
    'adapters doctor tool --live',
  ],
  ['the login, where there is one', { login: { cmd: 'sign-in' } }, 'adapters login tool'],
] as const)('a login that only a session can report is followed by %s', async (_, auth, next) => {
  const made = { adapter: await adapterOf({ auth }), host: readyHost() }
  const hints: (string | undefined)[] = []
  for await (const { id, hint } of examineAgent({ ...made, request: {} })) if (id === 'auth') hints.push(hint)
  expect(hints).toEqual([`agentproto ${next}`])
})

test('a login that failed is not in the ledger', async () => {
  const host = readyHost()
  await logIn({ login: { cmd: 'sign-in fail' } }, host)
  expect(JSON.parse(textAt(join(host.home, 'provisioning/tool.json')))).not.toHaveProperty('auth')
})

test('an agent with a home of its own is looked for a login there', async () => {
  const host = readyHost({ homes: 'isolated' })
  program(join(host.home, '.tool'), 'auth.json', '{}')
  const adapter = await adapterOf({ auth: { state: { paths: ['~/.tool/auth.json'] } } })
  const provisioner = createProvisioner(adapter, host)
  expect((await provisioner.state()).auth).toBe('unauthed')
  program(join(host.home, 'homes/tool/.tool'), 'auth.json', '{}')
  expect((await provisioner.state()).auth).toBe('authed')
})
