import { expect, test } from 'vitest'
import type { AgentRequest, HostEvent, StreamEvent } from '@agentproto/contracts'
import type { AttachAction } from '../src/attach/attach-action.js'
import { AttachScreen } from '../src/attach/attach-screen.js'
import type { Key } from '../src/attach/keyboard.js'
import { createPaint } from '../src/render/paint.js'
import { log, session } from './samples.js'

const NOW = Date.parse('2026-11-21T10:00:05.000Z')
const permission: AgentRequest = {
  kind: 'permission',
  toolCall: { type: 'tool-call', toolCallId: 't', title: 'Write a.txt' },
  options: [
    { optionId: 'once', name: 'Allow', kind: 'allow_once' },
    { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
    { optionId: 'no', name: 'Reject', kind: 'reject_once' },
  ],
}
const asked: StreamEvent = { type: 'agent-prompt', requestId: 'r1', request: permission }
const prompted: HostEvent = { type: 'user-prompt', content: [{ type: 'text', text: 'go' }] }

const screen = (): AttachScreen =>
  new AttachScreen({ session: session(), paint: createPaint(false), width: () => 70, height: () => 30 })
const typed = (text: string): Key => ({ text, name: text, ctrl: false, meta: false })
const named = (name: string, ctrl = false): Key => ({ name, ctrl, meta: false })
function type(to: AttachScreen, text: string): AttachAction | undefined {
  let action: AttachAction | undefined
  for (const each of text) action = to.key(each === '\n' ? named('return') : typed(each), NOW) ?? action
  return action
}
function show(to: AttachScreen, events: readonly (StreamEvent | HostEvent)[]): void {
  for (const event of log(events)) to.apply(event)
}

test('a typed line is a prompt, and the status row shows that the agent is idle', () => {
  const one = screen()
  expect(one.live(NOW).rows).toEqual(['s_abcdefgh · demo · idle   /help · /detach exits', '❯ '])
  expect(type(one, 'hello\n')).toEqual({ type: 'prompt', text: 'hello' })
  expect(one.live(NOW)).toMatchObject({ rows: [expect.anything(), '❯ '], cursor: { row: 1, column: 2 } })
})

test('text appears while it is written, above the status row', () => {
  const one = screen()
  show(one, [
    prompted,
    { type: 'text-delta', text: 'first line\nsec' },
    { type: 'tool-call', toolCallId: 't', title: 'Run tests' },
  ])
  expect(one.takeFinished()).toEqual(['❯ go', 'first line', 'sec', '● Run tests'])
  expect(one.takeFinished()).toEqual([])
  expect(one.live(NOW).rows[0]).toMatch(/demo · . 5\.0 s Run tests {3}Esc interrupts$/)
})

/** Shows what is open, and waits until its keys count. */
function settle(one: AttachScreen, now = NOW): number {
  one.live(now)
  return now + 1_000
}

test('a key answers a permission request by letter or number', () => {
  const one = screen()
  show(one, [prompted, asked])
  const now = settle(one)
  expect(one.live(now).rows.slice(-4)).toEqual([
    '  [y] Allow once: Allow',
    '  [a] Allow always …: Always allow',
    '  [n] Deny once: Reject',
    '  Press one key.',
  ])
  expect(one.key(typed('3'), now)).toEqual({ type: 'answer', requestId: 'r1', answer: { optionId: 'no' } })
  show(one, [
    {
      type: 'agent-prompt-resolved',
      requestId: 'r1',
      answer: { outcome: 'selected', optionId: 'no' },
      by: { type: 'timeout' },
    },
  ])
  expect(one.live(now).rows.at(-1)).toBe('❯ ')
})

test('14.2.4 while a request is shown, the status row names the key that interrupts; Escape does not', () => {
  const one = screen()
  show(one, [prompted])
  expect(one.live(NOW).rows.at(-2)).toContain('Esc interrupts')
  show(one, [asked])
  const now = settle(one)
  expect(one.live(now).rows[0]).toContain('Ctrl-C interrupts')
  expect(one.key(named('escape'), now)).toBeUndefined()
  expect(one.key(named('c', true), now)).toEqual({ type: 'interrupt' })
})

test('the keys of a line that is being typed never answer a request', () => {
  const one = screen()
  type(one, 'sa')
  show(one, [prompted, asked])
  expect(type(one, 'y')).toBeUndefined()
  expect(one.live(NOW).rows.at(-1)).toBe('❯ say')
  expect(one.live(NOW).rows.at(-2)).toContain('Ctrl-U clears your line')
  one.key(named('u', true), NOW)
  const now = settle(one)
  expect(one.key(typed('y'), now)).toMatchObject({ type: 'answer' })
})

test('14.1.1 a paste while a request is shown becomes the line, and answers nothing', () => {
  const one = screen()
  show(one, [prompted, asked])
  const now = settle(one)
  for (const name of ['paste-start', 'paste', 'paste-end'])
    expect(one.key({ ...typed(name === 'paste' ? 'please add tests as well' : ''), name }, now)).toBeUndefined()
  expect(one.live(now).rows.at(-1)).toBe('❯ please add tests as well')
  one.key(named('u', true), now)
  for (const each of 'yes') one.key({ ...typed(each), isPasted: true }, now)
  expect(one.live(now).rows.at(-1)).toBe('❯ yes')
  one.key(named('u', true), now)
  one.live(now)
  expect(one.live(now + 300).rows.at(-1)).toContain('Press one key')
})

test('14.1.1 a request that is shown again after a line needs a key of its own time, also after the end of a paste', () => {
  const one = screen()
  show(one, [prompted, asked])
  let now = settle(one)
  one.key({ ...typed('and tests'), name: 'paste' }, now)
  one.live(now)
  now += 5_000
  one.key(named('return'), now)
  expect(one.live(now).rows.at(-1)).toContain('Read first')
  expect(one.key(typed('y'), now + 50)).toBeUndefined()
  one.live(now + 50)
  expect(one.key(typed('y'), now + 5_000)).toMatchObject({ type: 'answer' })
})

test('a form asks field by field and rejects invalid values', () => {
  const one = screen()
  const schema = {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', title: 'Your name' },
      size: { type: 'string', enum: ['s', 'm'], default: 'm' },
      count: { type: 'integer' },
      sure: { type: 'boolean', default: false },
    },
  }
  show(one, [
    prompted,
    { type: 'agent-prompt', requestId: 'q', request: { kind: 'question', message: 'Which?', mode: 'form', schema } },
  ])
  let now = settle(one)
  const enter = (text: string): AttachAction | undefined => {
    for (const each of text) one.key(typed(each), now)
    now += 1_000
    return one.key(named('return'), now)
  }
  expect(one.live(now).rows.slice(-2)).toEqual(['  Esc declines', '  1/4 Your name: '])
  enter('')
  expect(one.live(now).rows.at(-2)).toContain('This field is required.')
  enter('Ann')
  expect(one.live(now).rows.at(-2)).toContain('1 s, 2 m; Enter for "m"')
  enter('')
  enter('1.5')
  expect(one.live(now).rows.at(-2)).toContain('Enter a whole number')
  enter('')
  expect(one.live(now).rows.at(-2)).toContain('y or n; Enter for no')
  expect(enter('y')).toEqual({
    type: 'answer',
    requestId: 'q',
    answer: { action: 'accept', content: { name: 'Ann', size: 'm', sure: true } },
  })
})

test('Escape, then n, declines a question', () => {
  const one = screen()
  const schema = { properties: { name: { type: 'string' } } }
  show(one, [
    prompted,
    { type: 'agent-prompt', requestId: 'q', request: { kind: 'question', message: 'Which?', mode: 'form', schema } },
  ])
  const now = settle(one)
  expect(one.key(named('escape'), now)).toBeUndefined()
  expect(one.key(typed('n'), settle(one, now))).toMatchObject({ answer: { action: 'decline' } })
})

test('Ctrl-C interrupts a turn, and twice it detaches', () => {
  const one = screen()
  show(one, [prompted])
  expect(one.key(named('c', true), NOW)).toEqual({ type: 'interrupt' })
  expect(one.key(named('c', true), NOW + 500)).toEqual({ type: 'detach' })
})

test('Ctrl-C on an idle session clears the line, and explains a second Ctrl-C', () => {
  const one = screen()
  type(one, 'abc')
  expect(one.key(named('c', true), NOW)).toBeUndefined()
  expect(one.live(NOW).rows).toEqual(['Ctrl-C again detaches; ↑ brings your line back.', expect.any(String), '❯ '])
  expect(one.key(named('c', true), NOW + 5_000)).toBeUndefined()
  expect(one.key(named('c', true), NOW + 5_500)).toEqual({ type: 'detach' })
})

test('/detach and Ctrl-D on an empty line detach', () => {
  expect(type(screen(), '/detach\n')).toEqual({ type: 'detach' })
  expect(screen().key(named('d', true), NOW)).toEqual({ type: 'detach' })
})

test('slash commands of the agent are suggested, and Tab completes them', () => {
  const one = screen()
  const commands = [
    { name: 'compact', description: 'Shortens the conversation' },
    { name: 'compare', description: 'Compares', hint: 'file' },
  ]
  show(one, [{ type: 'config', config: { commands } }])
  type(one, '/')
  expect(one.live(NOW).rows[0]).toMatch(/^\/compact {2}\/compare {2}\/steer {2}/)
  type(one, 'com')
  one.key(named('tab'), NOW)
  expect(one.live(NOW).rows.at(-1)).toBe('❯ /compa')
  type(one, 'r')
  expect(one.live(NOW).rows[0]).toBe('/compare <file>  Compares')
  one.key(named('tab'), NOW)
  expect(type(one, 'a.ts\n')).toEqual({ type: 'prompt', text: '/compare a.ts' })
  type(one, '/nope')
  expect(one.live(NOW).rows[0]).toContain('Not a command')
  one.key(named('tab'), NOW)
  expect(one.live(NOW).rows.at(-1)).toBe('❯ /nope')
})

test('the arrow keys find earlier prompts of the session', () => {
  const one = screen()
  show(one, [prompted, { type: 'turn-end', reason: 'end_turn' }])
  one.key(named('up'), NOW)
  expect(one.live(NOW).rows.at(-1)).toBe('❯ go')
})

test('an outage is reported once and keeps the line; the reconnect is reported, too', () => {
  const one = screen()
  show(one, [prompted, { type: 'text-delta', text: 'half a li' }])
  one.setConnected(false)
  one.setConnected(false)
  expect(one.takeFinished()).toEqual(['❯ go', 'half a li', '! The gateway does not answer; reconnecting.'])
  expect(type(one, 'more\n')).toBeUndefined()
  expect(one.live(NOW).rows.at(-1)).toBe('❯ more')
  one.setConnected(true)
  one.setConnected(true)
  expect(one.takeFinished()).toEqual(['! Connected again.'])
})

test('a refused prompt is restored, unless something else is typed by now', () => {
  const one = screen()
  one.restorePrompt('lost')
  expect(one.live(NOW).rows.at(-1)).toBe('❯ lost')
  one.restorePrompt('other')
  expect(one.live(NOW).rows.at(-1)).toBe('❯ lost')
})
