import { expect, test } from 'vitest'
import { AttachDriver, ctrl, ended, key, NOW, pasted, prompted, SIZES } from './attach-driver.js'

test.each(SIZES)('14.2.4 Enter queues while a turn runs, and the queue is sent in order at %i×%i', (width, height) => {
  const one = new AttachDriver({}, { width, height })
  one.show(prompted())
  expect(one.press('first\n')).toBeUndefined()
  expect(one.press('second 日本語 👩‍👧\n')).toBeUndefined()
  expect(one.text).toMatch(/^2 queued · Ctrl-T takes the last one back\n {2}⋯ first\n {2}⋯ second 日本語 👩‍👧\n.*\n❯ $/m)
  expect(one.screen.next()).toBeUndefined()
  one.show(ended())
  expect(one.screen.next()).toEqual({ type: 'prompt', text: 'first' })
  expect(one.screen.next()).toBeUndefined()
  expect(one.press('third\n')).toBeUndefined()
  one.show(prompted('first'), ended())
  expect(one.screen.next()).toEqual({ type: 'prompt', text: 'second 日本語 👩‍👧' })
  one.show(prompted('second'), ended())
  expect(one.screen.next()).toEqual({ type: 'prompt', text: 'third' })
  expect(one.text).not.toContain('queued')
})

test('14.2.4 Ctrl-T takes the last queued prompt back into the line, but never over one that is typed', () => {
  const one = new AttachDriver()
  one.show(prompted())
  one.press('first\n', 'second\n', 'typed', ctrl('t'))
  expect(one.text).toMatch(/Send or clear your line first[\s\S]*❯ typed$/)
  one.press(ctrl('u'), ctrl('t'))
  expect(one.text).toMatch(/^1 queued[\s\S]*❯ second$/)
  one.press(ctrl('u'), ctrl('t'), ctrl('u'), ctrl('t'))
  expect(one.text).toMatch(/^Nothing is queued\.\n.*\n❯ $/)
})

test('14.2.4 Esc interrupts, and loses neither the line nor the queue, however often it is pressed', () => {
  const one = new AttachDriver()
  one.show(prompted())
  one.press('queued\n', 'half a line')
  expect(one.press(key('escape'))).toEqual({ type: 'interrupt' })
  expect(one.press(key('escape', { meta: true }))).toEqual({ type: 'interrupt' })
  one.show(ended('cancelled'))
  expect(one.press(key('escape'))).toBeUndefined()
  // What stood behind a stopped turn must not start by itself.
  expect(one.screen.next()).toBeUndefined()
  expect(one.text).toMatch(
    /^1 not sent · Enter sends · Ctrl-T takes the last one back\n {2}⋯ queued\n.*\n❯ half a line$/,
  )
  one.press(ctrl('u'))
  expect(one.press('\n')).toEqual({ type: 'prompt', text: 'queued' })
})

test.each(['error', 'timeout', 'refusal', 'max_tokens', 'cancelled'] as const)(
  '14.2.4 the queue waits for the person after a turn that ended with %s',
  (reason) => {
    const one = new AttachDriver()
    one.show(prompted())
    one.press('queued\n')
    one.show(ended(reason))
    expect(one.screen.next()).toBeUndefined()
    expect(one.press('something else\n')).toEqual({ type: 'prompt', text: 'something else' })
    one.show(prompted('something else'), ended())
    expect(one.screen.next()).toBeUndefined()
    expect(one.press('\n')).toEqual({ type: 'prompt', text: 'queued' })
  },
)

test('14.2.4 Ctrl-S and /steer interrupt the turn for a prompt, and the queue goes on after it', () => {
  const one = new AttachDriver()
  one.show(prompted())
  one.press('later\n')
  expect(one.press('now', ctrl('s'))).toEqual({ type: 'prompt', text: 'now', whenBusy: 'interrupt' })
  one.show(ended('cancelled'))
  expect(one.screen.next()).toBeUndefined()
  one.show(prompted('now'))
  expect(one.press('/steer  and this\n')).toEqual({ type: 'prompt', text: 'and this', whenBusy: 'interrupt' })
  one.show(ended('cancelled'), prompted('and this'))
  one.show(ended())
  expect(one.screen.next()).toEqual({ type: 'prompt', text: 'later' })
})

test('14.2.4 Ctrl-S on an empty line sends the first queued prompt now; on an idle session it just sends', () => {
  const one = new AttachDriver()
  expect(one.press(ctrl('s'))).toBeUndefined()
  expect(one.text).toContain('There is nothing to send.')
  expect(one.press('hello', ctrl('s'))).toEqual({ type: 'prompt', text: 'hello' })
  one.show(prompted('hello'))
  one.press('a\n', 'b\n')
  expect(one.press(ctrl('s'))).toEqual({ type: 'prompt', text: 'a', whenBusy: 'interrupt' })
})

test('14.2.4 Ctrl-C twice never loses a typed line, nor what is queued', () => {
  const idle = new AttachDriver()
  idle.press('precious')
  expect(idle.press(ctrl('c'))).toBeUndefined()
  expect(idle.press(ctrl('c'))).toEqual({ type: 'detach' })
  expect(idle.screen.leftovers).toEqual({ queued: [], unsent: ['precious'] })

  const again = new AttachDriver()
  again.press('precious', ctrl('c'), key('up'))
  expect(again.text).toMatch(/❯ precious$/)

  const busy = new AttachDriver()
  busy.show(prompted())
  busy.press('queued\n', 'precious')
  expect(busy.press(ctrl('c'))).toEqual({ type: 'interrupt' })
  expect(busy.press(ctrl('c'))).toEqual({ type: 'detach' })
  expect(busy.screen.leftovers).toEqual({ queued: ['queued'], unsent: ['precious'] })
  busy.show(ended('cancelled'))
  expect(busy.screen.leftovers).toEqual({ queued: [], unsent: ['queued', 'precious'] })
})

test('14.2.4 the gateway killed under an attach keeps the line and the queue', () => {
  const one = new AttachDriver()
  one.show(prompted())
  one.press('queued\n', 'typed')
  one.screen.setConnected(false)
  expect(one.screen.next()).toBeUndefined()
  one.press('\n')
  expect(one.text).toMatch(/your line is kept[\s\S]*1 queued[\s\S]*❯ typed$/)
  one.screen.setConnected(true)
  one.show(ended('error'), { type: 'session-stopped', status: 'error', stopReason: 'shutdown' })
  expect(one.screen.next()).toBeUndefined()
  expect(one.text).toMatch(/1 not sent · Enter sends[\s\S]*a prompt resumes it\n❯ typed$/)
})

test('14.2.4 a queued prompt that was on its way when the gateway died is queued again, unless the log has it', () => {
  const lost = new AttachDriver()
  lost.show(prompted())
  lost.press('queued\n')
  lost.show(ended())
  expect(lost.screen.next()).toMatchObject({ text: 'queued' })
  lost.show({ type: 'session-stopped', status: 'error', stopReason: 'shutdown' })
  expect(lost.text).toContain('1 not sent')

  const logged = new AttachDriver()
  logged.show(prompted())
  logged.press('queued\n')
  logged.show(ended())
  logged.screen.next()
  logged.screen.restorePrompt('queued')
  expect(logged.text).toContain('1 not sent')
  logged.show(prompted('queued'))
  expect(logged.text).not.toContain('not sent')

  const line = new AttachDriver()
  line.press('typed\n')
  line.screen.restorePrompt('typed')
  expect(line.text).toMatch(/❯ typed$/)
  line.show(prompted('typed'))
  expect(line.text).toMatch(/❯ $/)
})

test('14.2.4 a refused prompt goes to the queue if something else is typed by now', () => {
  const one = new AttachDriver()
  one.press('one\n', 'two')
  one.screen.restorePrompt('one')
  expect(one.text).toMatch(/1 not sent[\s\S]*⋯ one\n[\s\S]*❯ two$/)
})

test('14.2.4 attack: 10,000 queued lines are bounded, and none that was refused is lost', () => {
  const one = new AttachDriver({}, { width: 50, height: 20 })
  one.show(prompted())
  for (let index = 0; index < 10_000; index += 1) {
    one.press(pasted(`line ${index}`), '\n')
    if (index >= 100) one.press(ctrl('u'))
  }
  expect(one.text).toMatch(/^100 queued/m)
  one.press('last\n')
  expect(one.text).toMatch(/^The queue is full; your line is kept\.[\s\S]*❯ last$/)
})

test('14.2.4 attack: a pasted megabyte with tabs and newlines is one prompt, and a queued one takes one row', () => {
  const one = new AttachDriver({}, { width: 50, height: 20 })
  one.show(prompted())
  const text = '\tif (x) return "日本"\n'.repeat(50_000)
  one.press(key('paste-start'), pasted(text), key('paste-end'))
  expect(one.text).toMatch(/50001 lines, of which \d+:\n❯ /)
  one.press('\n')
  expect(one.text).toContain('1 queued')
  one.show(ended())
  expect(one.screen.next()).toEqual({ type: 'prompt', text })
  one.press(pasted('x'.repeat(5 * 2 ** 20)))
  expect(one.text).toContain('Nothing was pasted')
})

test('14.2.4 a session that is busy when one attaches queues at once', () => {
  const one = new AttachDriver({ turn: { number: 3, state: 'busy', startedAt: new Date(NOW - 5_000).toISOString() } })
  expect(one.press('later\n')).toBeUndefined()
  expect(one.text).toContain('1 queued')
})
