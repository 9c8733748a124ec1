import { chmod, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentprotoError, type SessionEvent, systemClock } from '@agentproto/contracts'
import { expect, onTestFinished, test, vi } from 'vitest'
import { FakeClock } from '../../gateway-http/test/fake-clock.ts'
import { addressReach } from '../../sandbox/src/address-reach.ts'
import { Notifier, type NotifierOptions } from '../src/notify/notifier.js'
import { receiver, SECRET, verified } from './fixtures/receiver.js'
import { temporaryFolder } from './fixtures/temporary-folder.js'

const START = Date.parse('2026-01-01T00:00:00Z')
const owner = { type: 'owner', name: 'owner' } as const

/** An event of a session, at a second after the start. */
const event = (second: number, payload: object, sessionId = 's_1'): SessionEvent =>
  ({ sessionId, seq: 1, turn: 1, ts: new Date(START + second * 1_000).toISOString(), ...payload }) as SessionEvent

const asked = (requestId: string, title = 'Write', sessionId = 's_1'): SessionEvent =>
  event(
    1,
    {
      type: 'agent-prompt',
      requestId,
      request: { kind: 'permission', toolCall: { toolCallId: 't', title, kind: 'edit' }, options: [] },
    },
    sessionId,
  )
const answered = (requestId: string): SessionEvent => event(1, { type: 'agent-prompt-resolved', requestId })
const stopped = (stopReason: string, more: object = {}): SessionEvent =>
  event(9, { type: 'session-stopped', stopReason, ...more })

async function notifier(options: NotifierOptions['options'], more: Partial<NotifierOptions> = {}) {
  const { url, received } = await receiver()
  const clock = new FakeClock()
  clock.advance(Date.now())
  const problems: string[] = []
  const one = new Notifier({
    options: { webhook: { url, allowPrivate: true }, ...options },
    clock,
    hostId: 'host',
    version: '0',
    env: process.env,
    outboxPath: undefined,
    secret: async () => SECRET,
    redact: (text) => text.replaceAll('hunter2', '[redacted]'),
    loadReach: async () => addressReach,
    onProblem: (problem) => problems.push(problem),
    ...more,
  })
  const sessions = {
    async get(id: string) {
      if (id === 'gone') throw new AgentprotoError('session_not_found', 'No such session')
      const child = id === 'child' ? { parentSessionId: 's_1' } : {}
      return { id, label: `label-${id}`, workspaceSlug: 'shop', adapterSlug: 'demo', ...child } as never
    },
  }
  await one.start(sessions)
  onTestFinished(() => one.close())
  const bodies = (): { type: string; data: Record<string, unknown> }[] =>
    received.map(({ body }) => JSON.parse(body) as never)
  return { one, clock, problems, received, bodies }
}

test('14.2.3 a request that waits is notified after its delay, with facts by field; one that is answered meanwhile is not', async () => {
  const { one, clock, received, bodies } = await notifier({})
  one.events?.([asked('r_rule'), answered('r_rule')])
  one.events?.([asked('r_fast'), asked('r_slow')])
  clock.advance(1_999)
  one.events?.([answered('r_fast')])
  clock.advance(1)
  await vi.waitFor(() => expect(received).toHaveLength(1))
  expect(bodies()).toEqual([
    {
      type: 'session.request',
      timestamp: '2026-01-01T00:00:01.000Z',
      data: {
        hostId: 'host',
        sessionId: 's_1',
        label: 'label-s_1',
        workspace: 'shop',
        adapter: 'demo',
        turn: 1,
        requestId: 'r_slow',
        requestKind: 'permission',
        toolKind: 'edit',
        agentTitle: 'Write',
      },
    },
  ])
})

test('14.2.3 hostile words are one bounded line, without control characters and secrets', async () => {
  const { one, clock, received, bodies } = await notifier({})
  one.events?.([asked('r_1', `a\u001B]0;owned\u0007\u202Eb\r\nhunter2 ${'😀'.repeat(5_000)}`)])
  clock.advance(2_000)
  await vi.waitFor(() => expect(received).toHaveLength(1))
  const title = String(bodies()[0]?.data['agentTitle'])
  expect(title).toMatch(/^a \]0;owned b \[redacted\] 😀+…$/u)
  expect(title.replaceAll('😀', '.')).toHaveLength(120)
})

test('14.2.3 a long turn, a failure and a used up budget are notified; a short turn and an end by a person are not', async () => {
  const { one, clock, bodies } = await notifier({})
  const turn = (seconds: number, reason: string, sessionId = 's_1'): void => {
    one.events?.([event(0, { type: 'user-prompt', content: [] }, sessionId)])
    one.events?.([event(seconds, { type: 'turn-end', reason }, sessionId)])
  }
  turn(59, 'end_turn')
  turn(60, 'end_turn')
  turn(600, 'end_turn', 'child')
  turn(1, 'error')
  clock.advance(2_000)
  turn(1, 'error')
  one.events?.([stopped('agent_crashed', { failure: { kind: 'process_exit', summary: 'hunter2' } })])
  for (const reason of ['user_canceled', 'shutdown', 'idle', 'completed', 'budget_exceeded'])
    one.events?.([stopped(reason)])
  one.events?.([event(3, { ...stopped('error'), sessionId: 'gone' })])
  clock.advance(2_000)
  const facts = (): unknown[] =>
    bodies().map(({ type, data }) => [type, data['endReason'] ?? data['stopReason'], data['failureKind']])
  await vi.waitFor(() => expect(bodies()).toHaveLength(4))
  expect(new Set(facts())).toEqual(
    new Set([
      ['session.turn_end', 'end_turn', undefined],
      ['session.failure', 'error', undefined],
      ['session.failure', 'agent_crashed', 'process_exit'],
      ['session.budget', 'budget_exceeded', undefined],
    ]),
  )
})

test('14.2.3 only the chosen events, workspaces and labels are notified', async () => {
  const chosen = await notifier({ on: ['request'], labels: ['label-s_2'], workspaces: ['shop'] })
  chosen.one.events?.([asked('r_1'), asked('r_2', 'Write', 's_2'), stopped('error')])
  chosen.clock.advance(2_000)
  await vi.waitFor(() => expect(chosen.bodies().map(({ data }) => data['requestId'])).toEqual(['r_2']))
  const elsewhere = await notifier({ workspaces: ['other'] })
  elsewhere.one.events?.([asked('r_1')])
  elsewhere.clock.advance(2_000)
  expect(await elsewhere.one.state()).toMatchObject({ targets: [{ waiting: 0, delivered: 0 }] })
})

test('14.2.3 a burst of 10,000 requests is bounded, and what is dropped is counted and reported once', async () => {
  const { one, clock, problems } = await notifier({ outbox: { entries: 100 } })
  for (let n = 0; n < 10_000; n += 1) one.events?.([asked(`r_${n}`)])
  clock.advance(2_000)
  await vi.waitFor(
    async () => {
      const [state] = (await one.state()).targets
      const dropped = state?.dropped['full'] ?? 0
      // What was sent before it was dropped counts as both.
      expect((state?.delivered ?? 0) + (state?.waiting ?? 0) + dropped).toBeGreaterThanOrEqual(10_000)
      expect(dropped).toBeGreaterThanOrEqual(9_800)
      expect(state?.waiting).toBe(0)
    },
    { timeout: 10_000 },
  )
  expect(problems.filter((problem) => problem.includes('dropped (full)'))).toHaveLength(1)
})

test('14.2.3 kill -9 between store and send: the next gateway sends it, with the same id', async () => {
  const outboxPath = join(await temporaryFolder(), 'outbox')
  const down = { webhook: { url: 'http://127.0.0.1:9/', allowPrivate: true } }
  const dead = await notifier(down, { outboxPath })
  dead.one.events?.([asked('r_1')])
  dead.clock.advance(2_000)
  await vi.waitFor(async () => expect((await dead.one.state()).targets).toMatchObject([{ waiting: 1, failures: 1 }]))
  const [file = ''] = await readdir(outboxPath)
  // It is not closed: the process just ends.
  const next = await notifier({}, { outboxPath })
  await vi.waitFor(() => expect(next.received).toHaveLength(1))
  expect(next.received[0]?.id).toBe(/msg_\w+/.exec(file)?.[0])
  expect(next.received.map(verified)).toMatchObject([{ data: { requestId: 'r_1' } }])
  await vi.waitFor(async () => expect(await readdir(outboxPath)).toEqual([]))
})

test('14.2.3 a command gets the text in its environment and the body on stdin, and nothing in its arguments', async () => {
  const folder = await temporaryFolder()
  const program = join(folder, 'show.mjs')
  const shown = join(folder, 'shown')
  await writeFile(
    program,
    `import { appendFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
const { AGENTPROTO_NOTIFY_TITLE: title, AGENTPROTO_NOTIFY_TEXT: body, SOME_TOKEN: token } = process.env
const stdin = JSON.parse(await text(process.stdin))
appendFileSync(${JSON.stringify(shown)}, JSON.stringify({ argv: process.argv.slice(2), title, body, token, stdin }) + '\\n')
`,
  )
  await chmod(program, 0o755)
  const env = { ...process.env, SOME_TOKEN: 'hunter2' }
  const options = { command: [program, '$(touch x)', '; touch y'], webhook: {} }
  const { one, clock } = await notifier(options, { env, clock: systemClock })
  clock.advance(0)
  one.events?.([stopped('error')])
  await vi.waitFor(async () => expect((await one.state()).targets).toMatchObject([{ delivered: 1 }]), {
    timeout: 10_000,
  })
  expect(JSON.parse(await readFile(shown, 'utf8'))).toEqual({
    argv: ['$(touch x)', '; touch y'],
    title: 'agentproto: label-s_1 (shop)',
    body: 'Failed: the connection to the agent failed',
    stdin: expect.objectContaining({ type: 'session.failure' }),
  })
  expect((await readdir(folder)).toSorted()).toEqual(['show.mjs', 'shown'])
})

test('14.2.3 a command that fails or is missing is reported, and a burst beyond its queue is dropped', async () => {
  const failing = await notifier({ command: ['false'], webhook: {} }, { clock: systemClock })
  for (let n = 0; n < 30; n += 1) failing.one.events?.([stopped('error')])
  await vi.waitFor(
    async () =>
      expect((await failing.one.state()).targets).toMatchObject([
        { to: 'false', failures: 21, problem: 'it ended with exit code 1: ', dropped: { full: 9, failed: 21 } },
      ]),
    { timeout: 20_000 },
  )
  const missing = await notifier({ command: ['no-such-program'], webhook: {} })
  expect(await missing.one.test(owner)).toEqual({
    results: [
      {
        target: 'command',
        to: 'no-such-program',
        ok: false,
        problem: 'no-such-program is not found, or not executable',
      },
    ],
  })
})

test('14.2.3 a test goes to each target at once, and says which failed; without a target it is refused', async () => {
  const { one, bodies } = await notifier({ command: ['true'] })
  const { results } = await one.test(owner)
  expect(results).toMatchObject([
    { target: 'command', ok: true },
    { target: 'webhook', to: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/), ok: true },
  ])
  expect(bodies()).toMatchObject([{ type: 'notify.test', data: { hostId: 'host' } }])
  const none = await notifier({ webhook: {} })
  await expect(none.one.test(owner)).rejects.toMatchObject({ code: 'invalid_request' })
})

test.each(['ftp://x/hunter2', 'https://user:hunter2@x/', 'https://?hunter2', 'hunter2'])(
  '14.2.3 the address %j stops the start, and is not quoted',
  async (url) => {
    const failed = notifier({ webhook: { url } })
    await expect(failed).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.not.stringContaining('hunter2'),
    })
  },
)
