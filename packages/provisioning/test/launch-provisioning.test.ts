import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, isAgentprotoError, systemClock } from '@agentproto/contracts'
import type { AgentHost } from '@agentproto/driver-agent-cli'
import type { AgentCliDocument } from '@agentproto/manifest'
import { createProvisioner } from '@agentproto/provisioning'
import { examineAgent } from '@agentproto/provisioning/doctor'
import { launchProvisioning } from '@agentproto/provisioning/launch'
import { findMarkedProcesses } from '@agentproto/subprocess'
import { expect, test } from 'vitest'
import { environmentOf, launch, prepare, type Prepared, program } from '../../driver-agent-cli/test/guarded-launch.ts'

const provisioned = (more: Partial<AgentCliDocument>, host: Partial<AgentHost> = {}): Promise<Prepared> =>
  prepare(more, { provisioning: launchProvisioning, ...host })

const SETUP: AgentCliDocument['setup'] = [{ id: 'url', kind: 'prompt', prompt: 'Url?', persist: { env: 'ACME_URL' } }]

test('nothing is spawned before the setup is done, and then the agent has what it gave', async () => {
  const version_check = { cmd: 'echo 1.0.0', parse: '(.*)', range: '*' }
  const made = await provisioned({ setup: SETUP, version_check })
  const refused = await launch(made).catch((error: unknown) => error)
  expect(refused).toMatchObject({
    code: 'setup_required',
    parts: { data: { pending: [{ id: 'url', needs: { kind: 'value', prompt: 'Url?' } }] } },
  })
  const provisioner = createProvisioner(made.adapter, made.host)
  const run = async (workspaceSlug?: string, url = 'http://all') => {
    const request = {
      until: 'setup' as const,
      inputs: { url },
      ...(workspaceSlug === undefined ? {} : { workspaceSlug }),
    }
    for await (const _ of provisioner.run(request)) continue
  }
  await run('web', 'http://web')
  await expect(launch(made)).rejects.toMatchObject({ code: 'setup_required' })
  expect((await environmentOf(made, { workspaceSlug: 'web' }))['ACME_URL']).toBe('http://web')
  await run()
  expect((await environmentOf(made))['ACME_URL']).toBe('http://all')
  expect((await environmentOf(made, { workspaceSlug: 'web' }))['ACME_URL']).toBe('http://web')
})

test('a step that its skip_if lets pass is no obstacle', async () => {
  const made = await provisioned({ setup: [{ id: 'daemon', kind: 'cmd', cmd: 'false', skip_if: { cmd: 'true' } }] })
  await expect(launch(made)).resolves.toMatchObject({ warnings: [] })
})

test('12.C8 the check of a step looks at what the session chose, and is not recorded for others', async () => {
  const made = await provisioned({
    setup: [{ id: 'daemon', kind: 'cmd', cmd: 'false', skip_if: { cmd: `sh -c 'test "$GATEWAY" = other'` } }],
    options: [{ id: 'url', type: 'string', env: { GATEWAY: '{value}' } }],
  })
  const refused = { code: 'setup_required' }
  await expect(launch(made)).rejects.toMatchObject(refused)
  await expect(launch(made, { options: { url: 'other' } })).resolves.toMatchObject({ warnings: [] })
  await expect(launch(made, { options: { url: 'third' } })).rejects.toMatchObject(refused)
  await expect(launch(made)).rejects.toMatchObject(refused)
})

test('an agent that ends with the code of an ended login is not started again before somebody logs in', async () => {
  const auth: AgentCliDocument['auth'] = { login: { cmd: 'small-agent login' }, expiry: { detect: 'exit_code:77' } }
  const made = await provisioned({ auth })
  program(made.folder, 'expired', 'exit 77')
  const expired = {
    ...made,
    host: { ...made.host, executables: { 'small-agent': join(made.folder, 'expired') } },
  }
  await expect(launch(expired)).rejects.toMatchObject({
    code: 'auth_required',
    parts: { data: { login: 'small-agent login' } },
  })
  await expect(launch(made)).rejects.toMatchObject({ code: 'auth_required' })
  expect(findMarkedProcesses('s-')).toEqual([])
})

test('an ended login is no obstacle once a key is set, as the error says', async () => {
  const auth: AgentCliDocument['auth'] = { state: { env: ['ACME_KEY'] }, expiry: { detect: 'exit_code:77' } }
  const made = await provisioned({ auth })
  await launchProvisioning.loginExpired(made.adapter.manifest.id, made.host)
  await expect(launch(made)).rejects.toMatchObject({
    code: 'auth_required',
    parts: { hint: expect.stringContaining('ACME_KEY') as string },
  })
  const withKey = { ...made, host: { ...made.host, env: { ...made.host.env, ACME_KEY: 'a key' } } }
  await expect(launch(withKey)).resolves.toMatchObject({ warnings: [] })
})

test('a login is refreshed when its time has come, once', async () => {
  let now = Date.parse('2026-11-22T00:00:00Z')
  const clock: Clock = {
    now: () => now,
    after: (ms, run) => ({
      cancel: (
        (timer) => () =>
          clearTimeout(timer)
      )(setTimeout(run, ms)),
    }),
  }
  const made = await provisioned({ auth: { refresh: { cmd: 'renew', every: 'PT1H' } } }, { clock })
  const calls = join(made.folder, 'calls')
  program(made.folder, 'renew', `echo x >> ${calls}`)
  const launched = async (after: number) => {
    now += after
    await (await launch(made)).stop()
    return readFileSync(calls, 'utf8').length / 2
  }
  expect([await launched(0), await launched(1_000), await launched(3_600_000)]).toEqual([1, 1, 2])
  program(made.folder, 'renew', 'echo "no network" >&2; exit 1')
  now += 3_600_000
  expect((await launch(made)).warnings).toEqual([expect.stringContaining('no network')])
})

const CHECKED: NonNullable<AgentCliDocument['auth']> = {
  state: { env: ['ACME_KEY'] },
  login: { cmd: 'sign-in', completes_when: { cmd: 'who' } },
}

/** An agent whose own check counts its calls and says yes while `signed` exists. */
async function checked(host: Partial<AgentHost> = {}, who = 'test -e "$0.signed"') {
  const made = await provisioned(
    { auth: CHECKED, version_check: { cmd: 'echo 1.0.0', parse: '(.*)', range: '*' } },
    host,
  )
  program(made.folder, 'who', `echo x >> ${made.folder}/asked; ${who}`)
  program(made.folder, 'sign-in', `touch ${made.folder}/who.signed`)
  return {
    made,
    asked: () =>
      existsSync(join(made.folder, 'asked')) ? readFileSync(join(made.folder, 'asked'), 'utf8').length / 2 : 0,
    signOut: () => rmSync(join(made.folder, 'who.signed')),
    provisioner: createProvisioner(made.adapter, made.host),
  }
}

/** What each command says of one login. */
async function views({ made, provisioner }: Awaited<ReturnType<typeof checked>>) {
  const started = await launch(made).then(
    async (agent) => (await agent.stop(), 'started'),
    (error: unknown) => (isAgentprotoError(error) ? error.code : error),
  )
  const { auth, ready } = await provisioner.state()
  const checks = []
  for await (const check of examineAgent({ ...made, request: {} })) checks.push(check)
  return { run: started, show: auth, ready, doctor: checks.find(({ id }) => id === 'auth')?.verdict }
}

test('12.C2 a check that says no is auth_required before the agent starts, and every command says the same', async () => {
  const agent = await checked()
  expect(await views(agent)).toEqual({ run: 'auth_required', show: 'unauthed', ready: false, doctor: 'fail' })
  expect(findMarkedProcesses('s-')).toEqual([])
  for await (const _ of agent.provisioner.run({ until: 'login' })) continue
  expect(await views(agent)).toEqual({ run: 'started', show: 'authed', ready: true, doctor: 'ok' })
  agent.signOut()
  for await (const _ of examineAgent({ ...agent.made, request: {} })) continue
  expect(await views(agent)).toEqual({ run: 'auth_required', show: 'unauthed', ready: false, doctor: 'fail' })
})

test('12.C2 a login that is made elsewhere is seen by the next start, and then by every command', async () => {
  const agent = await checked()
  await expect(launch(agent.made)).rejects.toMatchObject({
    code: 'auth_required',
    message: expect.stringContaining('check'),
  })
  writeFileSync(join(agent.made.folder, 'who.signed'), '')
  expect(await views(agent)).toEqual({ run: 'started', show: 'authed', ready: true, doctor: 'ok' })
})

test('12.C2 a login that is there already is recorded when it is asked for', async () => {
  const agent = await checked()
  writeFileSync(join(agent.made.folder, 'who.signed'), '')
  expect((await agent.provisioner.state()).auth).toBe('unauthed')
  for await (const _ of agent.provisioner.run({ until: 'login' })) continue
  expect((await agent.provisioner.state()).auth).toBe('authed')
})

test('12.C2 sessions that start together ask the check once; after a minute it is asked again', async () => {
  let now = Date.parse('2026-11-22T00:00:00Z')
  const agent = await checked({ clock: { ...systemClock, now: () => now } })
  writeFileSync(join(agent.made.folder, 'who.signed'), '')
  const start = async (): Promise<void> => void (await (await launch(agent.made)).stop())
  await start()
  await start()
  expect(agent.asked()).toBe(1)
  agent.signOut()
  now += 60_000
  await expect(start()).rejects.toMatchObject({ code: 'auth_required' })
  expect(agent.asked()).toBe(2)
})

test('12.C2 a key of the session counts as a login for that session alone', async () => {
  const agent = await checked()
  await (await launch(agent.made, { env: { ACME_KEY: 'a key of mine' } })).stop()
  expect(agent.asked()).toBe(0)
  await expect(launch(agent.made)).rejects.toMatchObject({ code: 'auth_required' })
})

test('12.C2 a check that cannot run proves nothing: the agent starts, with a warning', async () => {
  const agent = await checked({}, 'kill -9 $$')
  const { warnings } = await launch(agent.made)
  expect(warnings).toEqual([expect.stringMatching(/could not be checked: who/)])
  expect((await agent.provisioner.state()).auth).toBe('unauthed')
})
