import type { AnsweredBy } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import type { Key } from '../src/attach/keyboard.js'
import { columnsOf } from '../src/render/fit.js'
import { createPaint } from '../src/render/paint.js'
import type { AskedRequest } from '../src/render/request-content.js'
import { terminalNotice } from '../src/render/terminal-notice.js'
import { type InboxAction, InboxScreen } from '../src/requests/inbox-screen.js'
import { SessionNotices } from '../src/requests/session-notices.js'
import { session } from './samples.js'
import { factsOf, permissionFor } from './samples-requests.js'

const paint = createPaint(false)

const asking = (requestId: string, command = 'ls', label = 'try'): AskedRequest => ({
  ...permissionFor({ title: `Run ${command}` }, factsOf({ toolKind: 'execute', commands: [command] })),
  requestId,
  session: session({ id: `s_${label}`, label }),
})

class Inbox {
  readonly screen = new InboxScreen()
  now = 1_000_000
  readonly size: readonly [number, number]

  constructor(asked: readonly AskedRequest[], size: readonly [number, number] = [80, 24]) {
    this.size = size
    for (const each of asked)
      this.screen.apply({ type: 'asked', asked: each, request: {}, session: each.session } as never)
    this.draw()
  }

  draw(): string {
    const [width, height] = this.size
    const { rows } = this.screen.view({ paint, width, height, now: this.now })
    const isFitting = rows.length < height && rows.every((row) => columnsOf(row) <= width)
    if (!isFitting) throw new Error(`It does not fit ${width}×${height}: ${rows.join('\n')}`)
    return rows.join('\n')
  }

  press(text: string, more: Partial<Key> = {}): InboxAction | undefined {
    this.now += 1_000
    this.draw()
    const key = text.length === 1 ? { text, name: text } : { name: text }
    const action = this.screen.key({ ctrl: false, meta: false, ...key, ...more }, this.now)
    this.draw()
    return action
  }

  gone(asked: AskedRequest, answeredBy?: AnsweredBy): string {
    this.screen.apply({ type: 'gone', asked, ...(answeredBy && { answeredBy }) })
    return this.screen.takeFinished({ paint, width: 80 }).join('\n')
  }
}

test.each([
  [80, 24],
  [120, 40],
  [50, 20],
] as const)(
  '14.2.2 at %i×%i the oldest request is shown whole and answered by its key, then the next one',
  (...size) => {
    const [first, second] = [asking('r_1', 'make test', 'api'), asking('r_2', 'rm -rf build 😀 構築', 'web')]
    const inbox = new Inbox([first, second], size)
    expect(inbox.draw()).toMatch(/make test[\s\S]*Tab: the next one/)
    expect(inbox.draw()).toContain('(1 of 2)')
    expect(inbox.press('y')).toEqual({ type: 'answer', asked: first, answer: { optionId: 'once' } })
    expect(inbox.gone(first, { type: 'principal', name: 'owner' })).toBe('✓ api: Run make test · you')
    expect(inbox.draw()).toContain('rm -rf build')
    expect(inbox.press('n')).toEqual({ type: 'answer', asked: second, answer: { optionId: 'no' } })
    expect(inbox.gone(second)).toContain('you')
    expect(inbox.draw()).toContain('No request waits for you')
  },
)

test('14.2.2 what is answered elsewhere disappears, and says by whom', () => {
  const [first, second] = [asking('r_1'), asking('r_2', 'pwd')]
  const inbox = new Inbox([first, second])
  expect(inbox.gone(first, { type: 'principal', name: 'phone' })).toBe('✓ try: Run ls · answered by phone')
  expect(inbox.draw()).toContain('pwd')
  expect(inbox.gone(second, { type: 'timeout' })).toContain('denied: its time was up')
})

test('14.2.2 Tab shows the next request, and a key that comes with it answers nothing', () => {
  const inbox = new Inbox([asking('r_1', 'ls'), asking('r_2', 'pwd')])
  expect(inbox.press('tab')).toBeUndefined()
  expect(inbox.draw()).toContain('pwd')
  // At once: it was meant for the one before.
  expect(inbox.screen.key({ text: 'y', name: 'y', ctrl: false, meta: false }, inbox.now)).toBeUndefined()
  expect(inbox.press('y')).toMatchObject({ type: 'answer', asked: { requestId: 'r_2' } })
})

test('14.2.2 a paste neither answers nor quits; q, Escape and Ctrl-C leave the requests open', () => {
  const inbox = new Inbox([asking('r_1')])
  for (const text of ['q', 'y', 'a', 'quickly, please'])
    expect(inbox.press(text, { text, isPasted: true })).toBeUndefined()
  expect(inbox.press('q')).toEqual({ type: 'quit' })
  expect(inbox.press('escape')).toEqual({ type: 'quit' })
  expect(inbox.press('c', { ctrl: true })).toEqual({ type: 'quit' })
  expect(inbox.screen.isEmpty).toBe(false)
})

test('14.2.2 an answer that the gateway refuses stays as a note', () => {
  const asked = asking('r_1')
  const inbox = new Inbox([asked])
  inbox.press('y')
  inbox.screen.failed(asked, 'The request was answered by \u001B[31mphone')
  expect(inbox.draw()).toContain('try: The request was answered by phone')
})

test('14.2.3 a terminal notice has a bell and both OSC forms, and nothing of a label acts on the terminal', () => {
  expect(terminalNotice('api (shop) waits')).toBe(
    '\u0007\u001B]9;agentproto: api (shop) waits\u001B\\\u001B]777;notify;agentproto;agentproto: api (shop) waits\u001B\\',
  )
  const hostile = terminalNotice(`\u001B]52;c;ZXZpbA==\u0007\u001B\\\u009C\u202E;9;4;1${'x'.repeat(10_000)}`)
  expect(hostile.match(/[\u0000-\u001F\u007F-\u009F\u202E]/g)).toEqual([
    '\u0007',
    '\u001B',
    '\u001B',
    '\u001B',
    '\u001B',
  ])
  expect(hostile.match(/;/g)).toHaveLength(4)
  expect(hostile.length).toBeLessThan(400)
})

test('14.2.3 a screen rings for a new request or a failure of another session, once a second, and not for what was there before', () => {
  const notices = new SessionNotices((id) => id === 's_own')
  let now = 0
  const of = (more: object) => ({ ...session({ id: 's_1', label: 'api', state: 'busy' }), ...more })
  const change = (more: object): string | undefined =>
    notices.apply({ type: 'session', session: of(more) }, (now += 500))
  expect(change({ pendingRequests: 1 })).toBeUndefined()
  expect(change({ pendingRequests: 1 })).toBeUndefined()
  expect(change({ pendingRequests: 2 })).toContain('api')
  expect(change({ pendingRequests: 3 })).toBeUndefined()
  expect(change({ pendingRequests: 0 })).toBeUndefined()
  expect(change({ pendingRequests: 1 })).toContain('waits for your answer')
  now += 1_000
  expect(change({ pendingRequests: 0, state: 'failed' })).toContain('has failed')
  expect(change({ id: 's_own', pendingRequests: 0 })).toBeUndefined()
  now += 1_000
  expect(change({ id: 's_own', pendingRequests: 1 })).toBeUndefined()
})
