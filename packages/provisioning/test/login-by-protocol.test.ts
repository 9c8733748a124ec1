import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createProvisioner, type Terminal, type TerminalProgram } from '@agentproto/provisioning'
import { findMarkedProcesses } from '@agentproto/subprocess'
import { expect, test } from 'vitest'
import { adapterOf, hostOf, type Outcome, program, provision, type TestHost, textAt } from './test-host.ts'

const KEY = { id: 'browser', name: 'Log in with a browser' }
const TTY = { id: 'tty', name: 'Log in here', type: 'terminal', args: ['--login', 'two words'], env: { LOGIN: '1' } }

const running = () => findMarkedProcesses().filter(({ marker }) => marker.startsWith('login_'))

/** An agent that names these ways, and writes down by which it was logged in. */
function hostWith(
  methods: readonly object[],
  { terminal, refuses }: { terminal?: Terminal; refuses?: boolean } = {},
): TestHost {
  const host = hostOf(terminal === undefined ? {} : { terminal })
  program(
    host.bin,
    'agent-tool',
    `#!${process.execPath}
if (process.argv.includes('--version')) { console.log('tool 1.0.0'); process.exit(0) }
const { createInterface } = require('node:readline')
const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') return send({ id, result: { protocolVersion: 1, authMethods: ${JSON.stringify(methods)} } })
  if (${refuses === true}) return send({ id, error: { code: -32603, message: 'Internal error', data: { details: 'no such account' } } })
  console.error('Open https://login.example/device and enter 1234')
  require('node:fs').writeFileSync(require('node:path').join(process.env.HOME, 'logged-in'), params.methodId)
  send({ id, result: {} })
})
`,
  )
  return host
}

const logIn = async (host: TestHost, more: object = {}): Promise<Outcome> =>
  provision(createProvisioner(await adapterOf({ auth: { state: {} } }), host), { until: 'login', ...more })

/** A terminal at which one answer is given. */
function terminalWith(answer: string, exitCode = 0) {
  const asked: unknown[] = []
  const ran: TerminalProgram[] = []
  const terminal: Terminal = {
    ask: (question) => (asked.push(question), Promise.resolve(answer)),
    show: () => undefined,
    run: (ready) => (ran.push(ready), Promise.resolve(exitCode)),
  }
  return { terminal, asked, ran }
}

test('18.3 an agent with one way that needs no terminal is logged in by its protocol, and that is recorded', async () => {
  const host = hostWith([KEY, TTY])
  const { error, events } = await logIn(host)
  expect(error).toBeUndefined()
  expect(textAt(join(host.home, 'logged-in'))).toBe('browser')
  expect(events).toContainEqual({
    type: 'output',
    stream: 'stderr',
    line: 'Open https://login.example/device and enter 1234',
  })
  expect(events.at(-1)).toMatchObject({ type: 'state', state: { auth: 'authed', ready: true } })
  expect((await logIn(host)).events).toContainEqual({
    type: 'phase',
    phase: 'login',
    state: 'skipped',
    detail: 'it is logged in',
  })
})

test('18.3 at a terminal the user chooses, and a way that needs the terminal gets it with its arguments', async () => {
  const { terminal, asked, ran } = terminalWith('tty')
  const host = hostWith([KEY, TTY], { terminal })
  expect((await logIn(host)).error).toBeUndefined()
  expect(asked).toEqual([
    expect.objectContaining({
      type: 'select',
      options: [
        { value: 'browser', label: KEY.name },
        { value: 'tty', label: TTY.name },
      ],
    }),
  ])
  expect(ran).toEqual([expect.objectContaining({ env: expect.objectContaining({ LOGIN: '1', HOME: host.home }) })])
  expect(ran[0]?.args.slice(-2)).toEqual(TTY.args)
  expect(existsSync(join(host.home, 'logged-in'))).toBe(false)
})

test.each([
  ['one that refuses', [KEY], { refuses: true }, 'no such account'],
  ['one that needs a terminal where there is none', [TTY], {}, 'need a terminal: Log in here'],
  [
    'several where nobody can choose',
    [KEY, { ...KEY, id: 'other', name: 'Other' }],
    {},
    'Log in with a browser; Other',
  ],
  ['none', [], {}, 'names no way to log in'],
  ['hostile texts', [{ ...TTY, name: '\u001b]0;x\u0007Log\nin' }], {}, 'need a terminal: ]0;x Log in'],
  ['a program that fails', [TTY], terminalWith('tty', 7), 'Log in here ended with 7'],
] as const)('18.3 a login with %s is auth_required, and says why', async (_, methods, more, why) => {
  const { error } = await logIn(hostWith(methods, more))
  expect(error).toMatchObject({ code: 'auth_required', message: expect.stringContaining(why) })
})

test('18.3 an agent that hangs at its handshake ends with the login that was cancelled', async () => {
  const host = hostOf()
  const hangs =
    "if (process.argv.includes('--version')) console.log('tool 1.0.0')\nelse setInterval(() => {}, 60_000)\n"
  program(host.bin, 'agent-tool', `#!${process.execPath}\n${hangs}`)
  const abort = new AbortController()
  const outcome = logIn(host, { signal: abort.signal })
  await expect.poll(() => running().length).toBe(1)
  abort.abort()
  expect((await outcome).error).toMatchObject({ code: 'cancelled' })
  expect(running()).toEqual([])
})
