import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { SetupStepState } from '@agentproto/contracts/wire'
import {
  createProvisioner,
  type ProvisionHost,
  type Question,
  type Terminal,
  type TerminalProgram,
} from '@agentproto/provisioning'
import type { AgentCliDocument } from '@agentproto/manifest'
import { expect, test } from 'vitest'
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

type Steps = NonNullable<AgentCliDocument['setup']>

const SECRETS = `  - { slug: acme/token, name: Token, description: A token, exposures: [{ kind: env, name: ACME_TOKEN }] }
  - { slug: acme/login, name: Login, description: A login, kind: oauth, exposures: [{ kind: env, name: ACME_LOGIN }] }
`

/** A host with the agent, and `note`, which notes its arguments and what it sees of ACME_* in `notes`. */
function readyHost(more: Partial<ProvisionHost> = {}): TestHost {
  const host = hostOf(more)
  program(host.bin, 'agent-tool', versionProgram('1.0.0'))
  program(
    host.bin,
    'note',
    `#!/bin/sh\nfor each in "$@"; do printf '[%s]' "$each"; done >> ${host.home}/notes\nenv | grep ^ACME_ | sort | tr '\\n' ' ' >> ${host.home}/notes\necho >> ${host.home}/notes\n`,
  )
  return host
}

const notes = (host: TestHost): string => (existsSync(join(host.home, 'notes')) ? textAt(join(host.home, 'notes')) : '')

async function setUp(setup: Steps, host: ProvisionHost, more: object = {}): Promise<Outcome> {
  const adapter = await adapterOf({ setup, auth: { ref: './SECRETS.md' } }, { secrets: SECRETS })
  return provision(createProvisioner(adapter, host), { until: 'setup', ...more })
}

const pendingIn = ({ error }: Outcome) => error?.parts.data?.['pending'] as SetupStepState[] | undefined

/** A person who gives these answers, in order, and notes what was asked and shown. */
function person(answers: readonly (string | boolean)[], onShow: (url: string) => void = () => undefined) {
  const left = [...answers]
  const asked: Question[] = []
  const ran: TerminalProgram[] = []
  const terminal: Terminal = {
    ask: (question) => {
      asked.push(question)
      const answer = left.shift()
      return answer === undefined ? Promise.reject(new Error('asked too much')) : Promise.resolve(answer)
    },
    show: onShow,
    run: (ready) => {
      ran.push(ready)
      return Promise.resolve(ready.args.includes('fail') ? 7 : 0)
    },
  }
  return { terminal, asked, ran }
}

test('steps run once, in order, and not again', async () => {
  const host = readyHost()
  const steps: Steps = [
    { id: 'one', kind: 'cmd', cmd: 'note one' },
    { id: 'two', kind: 'cmd', cmd: `note 'two words' "it's"` },
  ]
  const adapter = await adapterOf({ setup: steps })
  const run = () => provision(createProvisioner(adapter, host), { until: 'setup' })
  expect((await run()).events.at(-1)).toMatchObject({
    state: {
      ready: true,
      setup: [
        { id: 'one', state: 'done' },
        { id: 'two', state: 'done' },
      ],
    },
  })
  expect((await run()).error).toBeUndefined()
  expect(notes(host)).toBe("[one]\n[two words][it's]\n")
  expect(statSync(join(host.home, 'provisioning/tool.json')).mode & 0o777).toBe(0o600)
})

test('a failure aborts with the step’s id, and the next run goes on there', async () => {
  const host = readyHost()
  program(host.bin, 'flaky', `#!/bin/sh\n[ -e ${host.home}/fixed ] && exit 0\necho "no daemon" >&2\nexit 4\n`)
  const steps: Steps = [
    { id: 'one', kind: 'cmd', cmd: 'note one' },
    { id: 'two', kind: 'cmd', cmd: 'flaky' },
    { id: 'three', kind: 'cmd', cmd: 'note three' },
  ]
  const { error } = await setUp(steps, host)
  expect(error).toMatchObject({ code: 'setup_failed', parts: { data: { step: 'two' } } })
  expect(error?.message).toContain('it ended with 4: no daemon')
  program(host.home, 'fixed', '')
  expect((await setUp(steps, host)).error).toBeUndefined()
  expect(notes(host)).toBe('[one]\n[three]\n')
})

test.each([
  ['a program that is not there', { id: 'one', kind: 'cmd', cmd: 'no-such-program' }, 'no-such-program'],
  ['one that takes too long', { id: 'one', kind: 'cmd', cmd: 'sleep 300', timeout_ms: 150 }, 'took too long'],
  ['a quote that is left open', { id: 'one', kind: 'cmd', cmd: `note 'x` }, 'a quote is left open'],
] as const)('%s fails its step', async (_, step, why) => {
  const { error } = await setUp([step], readyHost())
  expect(error).toMatchObject({ code: 'setup_failed', parts: { data: { step: 'one' } } })
  expect(error?.message).toContain(why)
})

test('skip_if lets a step pass, by its exit code', async () => {
  const host = readyHost()
  const { events } = await setUp(
    [
      { id: 'one', kind: 'cmd', cmd: 'note one', skip_if: { cmd: 'true' } },
      { id: 'two', kind: 'cmd', cmd: 'note two', skip_if: { cmd: 'false', exit_code: 1 } },
      { id: 'three', kind: 'cmd', cmd: 'note three', skip_if: { cmd: 'false' } },
      { id: 'four', kind: 'cmd', cmd: 'note four', skip_if: { cmd: 'no-such-program' } },
    ],
    host,
  )
  expect(
    events.flatMap((event) =>
      event.type === 'step' && event.state !== 'started' ? [`${event.step} ${event.state}`] : [],
    ),
  ).toEqual(['one skipped', 'two skipped', 'three done', 'four done'])
  expect(notes(host)).toBe('[three]\n[four]\n')
})

test('headless, the pending steps are listed with what each needs, and nothing after the first is run', async () => {
  const host = readyHost()
  program(host.bin, 'list', `#!/bin/sh\nprintf 'c1\\tGeneral\\nc2\\tRandom\\nplain\\n'\n`)
  const outcome = await setUp(
    [
      { id: 'zero', kind: 'cmd', cmd: 'note zero' },
      { id: 'channel', kind: 'prompt', prompt: 'Channel?', type: 'select', options: { cmd: 'list' } },
      { id: 'key', kind: 'prompt', prompt: 'Key?', persist: { secret_slug: 'acme/token' } },
      { id: 'login', kind: 'oauth', secret_slug: 'acme/login' },
      { id: 'page', kind: 'external', url: 'https://acme.example/pick', description: 'Pick one' },
      { id: 'wizard', kind: 'cmd', cmd: 'note wizard', interactive: true },
      { id: 'last', kind: 'cmd', cmd: 'note last' },
    ],
    host,
  )
  expect(outcome.error).toMatchObject({
    code: 'setup_required',
    parts: { hint: 'Run: agentproto adapters setup tool' },
  })
  expect(pendingIn(outcome)?.map(({ id, needs }) => [id, needs])).toEqual([
    [
      'channel',
      {
        kind: 'value',
        prompt: 'Channel?',
        type: 'select',
        options: [
          { value: 'c1', label: 'General' },
          { value: 'c2', label: 'Random' },
          { value: 'plain', label: 'plain' },
        ],
      },
    ],
    ['key', { kind: 'value', prompt: 'Key?', type: 'secret' }],
    ['login', { kind: 'secret', slug: 'acme/login' }],
    ['page', { kind: 'value', type: 'boolean', prompt: 'Pick one: done?', url: 'https://acme.example/pick' }],
    ['wizard', { kind: 'terminal', command: 'note wizard' }],
    ['last', undefined],
  ])
  expect(notes(host)).toBe('[zero]\n')
})

test('answers may come with the request; one that does not fit is refused by its name', async () => {
  const host = readyHost()
  const steps: Steps = [
    { id: 'size', kind: 'prompt', prompt: 'Size?', type: 'select', options: ['s', 'm'] },
    { id: 'sure', kind: 'prompt', prompt: 'Sure?', type: 'boolean', default: 'true' },
    { id: 'use', kind: 'cmd', cmd: 'note ${input.size} ${input.sure}' },
  ]
  expect((await setUp(steps, host, { inputs: { size: 'xl' } })).error).toMatchObject({
    code: 'invalid_request',
    parts: { expected: 'one of s, m', given: 'xl', data: { field: 'inputs.size' } },
  })
  expect((await setUp(steps, host, { inputs: { size: 'm', sure: false } })).error).toBeUndefined()
  expect(notes(host)).toBe('[m][false]\n')
})

test('a person at a terminal is asked, and what is given is kept: for the agent, as a secret, by its own tool', async () => {
  const { terminal, asked } = person(['https://gate $(id)', 'top-secret-4711', 'b', 'env-secret-4711'])
  const host = readyHost({ terminal })
  const steps: Steps = [
    { id: 'url', kind: 'prompt', prompt: 'Gateway?', persist: { env: 'ACME_URL' } },
    {
      id: 'key',
      kind: 'prompt',
      prompt: 'Key for ${input.url}?',
      type: 'secret',
      persist: { secret_slug: 'acme/token' },
    },
    { id: 'own', kind: 'prompt', prompt: 'Letter?', persist: { cmd: 'note own ${value} ${input.url}' } },
    { id: 'pass', kind: 'prompt', prompt: 'Password?', persist: { env: 'ACME_PASSWORD' } },
    { id: 'after', kind: 'cmd', cmd: 'note after' },
  ]
  const outcome = await setUp(steps, host)
  expect(outcome.error).toBeUndefined()
  expect(asked.map(({ prompt, type }) => [prompt, type])).toEqual([
    ['Gateway?', 'text'],
    ['Key for https://gate $(id)?', 'secret'],
    ['Letter?', 'text'],
    ['Password?', 'secret'],
  ])
  // The values of steps are words of their own; the steps' own commands see what the agent will see.
  expect(notes(host)).toBe(
    '[own][b][https://gate $(id)]ACME_TOKEN=top-secret-4711 ACME_URL=https://gate $(id) \n' +
      '[after]ACME_PASSWORD=env-secret-4711 ACME_TOKEN=top-secret-4711 ACME_URL=https://gate $(id) \n',
  )
  const ledger = textAt(join(host.home, 'provisioning/tool.json'))
  expect(ledger).toContain('https://gate')
  for (const secret of ['top-secret-4711', 'env-secret-4711']) {
    expect(ledger).not.toContain(secret)
    expect(JSON.stringify(outcome.events)).not.toContain(secret)
  }
  expect(await host.secrets.resolve({ slug: 'acme/token' })).toMatchObject({ text: 'top-secret-4711' })
})

test('a secret in a command is one word of it, with a warning that it can be seen meanwhile', async () => {
  const host = readyHost()
  await host.secrets.set('acme/token', { kind: 'opaque', value: `it's "4711" $x` })
  const { events, error } = await setUp([{ id: 'one', kind: 'cmd', cmd: 'note --key=${secrets.acme/token}' }], host)
  expect(error).toBeUndefined()
  expect(notes(host)).toContain(`[--key=it's "4711" $x]`)
  expect(events).toContainEqual({
    type: 'warning',
    message: expect.stringContaining('secrets.acme/token becomes an argument'),
  })
  expect(JSON.stringify(events)).not.toContain('4711')
})

test('a command that needs a secret which is not set waits for it', async () => {
  const outcome = await setUp([{ id: 'one', kind: 'cmd', cmd: 'note ${secrets.acme/token}' }], readyHost())
  expect(pendingIn(outcome)).toMatchObject([{ id: 'one', needs: { kind: 'secret', slug: 'acme/token' } }])
})

test('an interactive command gets the terminal, and its exit code counts', async () => {
  const { terminal, ran } = person([])
  const host = readyHost({ terminal })
  expect((await setUp([{ id: 'one', kind: 'cmd', cmd: 'note wizard', interactive: true }], host)).error).toBeUndefined()
  expect(ran.map(({ file, args }) => [file, ...args])).toEqual([[join(host.bin, 'note'), 'wizard']])
  const failed = await setUp([{ id: 'two', kind: 'cmd', cmd: 'note fail', interactive: true }], host)
  expect(failed.error).toMatchObject({ code: 'setup_failed', parts: { data: { step: 'two' } } })
})

test('the output of a command is stored where the step says so; a secret one is not shown', async () => {
  const host = readyHost()
  program(host.bin, 'mint', '#!/bin/sh\necho minted-4711\n')
  const { events, error } = await setUp(
    [
      { id: 'name', kind: 'cmd', cmd: 'printf plain-value', persist: { env: 'ACME_NAME' } },
      { id: 'mint', kind: 'cmd', cmd: 'mint', persist: { env: 'ACME_API_KEY' } },
      { id: 'see', kind: 'cmd', cmd: 'note see' },
    ],
    host,
  )
  expect(error).toBeUndefined()
  expect(notes(host)).toBe('[see]ACME_API_KEY=minted-4711 ACME_NAME=plain-value \n')
  expect(JSON.stringify(events)).not.toContain('minted-4711')
  expect(textAt(join(host.home, 'provisioning/tool.json'))).not.toContain('minted-4711')
})

test('oauth: the host’s own flow, or three parts that a person pastes; one that is set and lasts is enough', async () => {
  const steps: Steps = [{ id: 'in', kind: 'oauth', secret_slug: 'acme/login' }]
  const flow = readyHost({ oauth: () => Promise.resolve({ accessToken: 'flow-token', refreshToken: 'flow-refresh' }) })
  expect((await setUp(steps, flow)).error).toBeUndefined()
  expect(await flow.secrets.resolve({ slug: 'acme/login' })).toMatchObject({ text: 'flow-token' })

  const { terminal, asked } = person(['pasted-token', '', '2020-01-01T00:00:00Z', 'newer-token', 'r', ''])
  const pasted = readyHost({ terminal })
  expect((await setUp(steps, pasted)).error).toBeUndefined()
  expect(asked.map(({ type }) => type)).toEqual(['secret', 'secret', 'text'])
  // It has ended: it is asked for again when the step is.
  expect((await setUp(steps, pasted, { force: true })).error).toBeUndefined()
  expect(await pasted.secrets.resolve({ slug: 'acme/login' })).toMatchObject({ text: 'newer-token' })

  const set = readyHost()
  await set.secrets.set('acme/login', { kind: 'oauth', accessToken: 'set-before' })
  expect((await setUp(steps, set)).error).toBeUndefined()
})

test('external: the page redirects with the value, and other pages cannot answer', async () => {
  let shown = ''
  const { terminal } = person([], (url) => {
    shown = url
    const back = new URL(url).searchParams.get('redirect_uri') ?? ''
    void fetch(new URL('/guess?channel=wrong', back)).then(() => fetch(`${back}?channel=c%2042`))
  })
  const host = readyHost({ terminal })
  const { error } = await setUp(
    [
      { id: 'team', kind: 'cmd', cmd: 'printf a&b', persist: { env: 'ACME_TEAM' } },
      {
        id: 'pick',
        kind: 'external',
        url: 'https://acme.example/pick?x=1',
        callback: { param: 'channel' },
        persist: { env: 'ACME_CHANNEL' },
      },
      { id: 'see', kind: 'cmd', cmd: 'note see' },
    ],
    host,
  )
  expect(error).toBeUndefined()
  expect(shown).toMatch(/^https:\/\/acme\.example\/pick\?x=1&redirect_uri=http%3A%2F%2F127\.0\.0\.1%3A\d+%2F[\w-]{22}$/)
  expect(notes(host)).toBe('[see]ACME_CHANNEL=c 42 ACME_TEAM=a&b \n')
})

test('external: a page that does not redirect fails its step; without a callback the user confirms it', async () => {
  const url = 'https://acme.example/pick'
  const late = await setUp(
    [{ id: 'pick', kind: 'external', url, callback: { timeout_ms: 100 } }],
    readyHost({ terminal: person([]).terminal }),
  )
  expect(late.error?.message).toContain('the page did not redirect')
  expect(
    (await setUp([{ id: 'pick', kind: 'external', url }], readyHost({ terminal: person([true]).terminal }))).error,
  ).toBeUndefined()
  expect(
    (await setUp([{ id: 'pick', kind: 'external', url }], readyHost({ terminal: person([false]).terminal }))).error
      ?.message,
  ).toContain('it was not done')
})

test('a step that the manifest has changed is done again; so is one whose secret was removed', async () => {
  const host = readyHost()
  await setUp([{ id: 'one', kind: 'cmd', cmd: 'note one' }], host)
  await setUp([{ id: 'one', kind: 'cmd', cmd: 'note other' }], host)
  expect(notes(host)).toBe('[one]\n[other]\n')
  const key: Steps = [{ id: 'key', kind: 'prompt', prompt: 'Key?', persist: { secret_slug: 'acme/token' } }]
  expect((await setUp(key, host, { inputs: { key: 'secret-value' } })).error).toBeUndefined()
  await host.secrets.remove('acme/token')
  expect((await setUp(key, host)).error).toMatchObject({ code: 'setup_required' })
})

test('setup for one workspace wins there and counts nowhere else', async () => {
  const host = readyHost()
  const steps: Steps = [{ id: 'url', kind: 'prompt', prompt: 'Url?', persist: { env: 'ACME_URL' } }]
  const adapter = await adapterOf({ setup: steps })
  const provisioner = createProvisioner(adapter, host)
  expect(
    (await provision(provisioner, { until: 'setup', workspaceSlug: 'web', inputs: { url: 'u1' } })).error,
  ).toBeUndefined()
  expect((await provisioner.state('web')).ready).toBe(true)
  expect((await provisioner.state('other')).ready).toBe(false)
  await provision(provisioner, { until: 'setup', inputs: { url: 'u2' } })
  expect((await provisioner.state('other')).ready).toBe(true)
})

test('12 an unreadable ledger is moved aside with a warning, and everything is found out again', async () => {
  const warnings: string[] = []
  const host = { ...readyHost(), onWarning: (warning: string) => void warnings.push(warning) }
  const steps: Steps = [{ id: 'one', kind: 'cmd', cmd: 'note one' }]
  await setUp(steps, host)
  program(join(host.home, 'provisioning'), 'tool.json', '{"version":')
  expect((await setUp(steps, host)).error).toBeUndefined()
  expect(warnings).toEqual([
    expect.stringMatching(/^The ledger of tool could not be read.* moved to .*tool\.json\.unreadable-/),
  ])
  expect(notes(host)).toBe('[one]\n[one]\n')
})
