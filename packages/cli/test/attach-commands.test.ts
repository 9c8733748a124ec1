import { expect, test } from 'vitest'
import type { HostEvent } from '@agentproto/contracts'
import { attachHelp } from '../src/attach/attach-help.js'
import { ATTACH_KEYS } from '../src/attach/attach-keys.js'
import { OWN_COMMANDS } from '../src/attach/own-commands.js'
import { columnsOf } from '../src/render/fit.js'
import { createPaint } from '../src/render/paint.js'
import { AttachDriver, ctrl, ended, key, NOW, pasted, prompted, SIZES } from './attach-driver.js'

const config = {
  modes: [
    { id: 'default', name: 'Default' },
    { id: 'plan', name: 'Plan' },
  ],
  modeId: 'default',
  models: [
    { id: 'large', name: 'Large' },
    { id: 'small', name: 'Small' },
  ],
  modelId: 'large',
}
const commands = (...names: readonly string[]): HostEvent => ({
  type: 'config',
  config: { commands: names.map((name) => ({ name, description: 'of the agent' })) },
})
const PLAN = {
  dryRun: true,
  to: { at: '2026-11-21T10:00:00.000Z', checkpoint: 'c1' },
  changed: [{ path: 'a\u001B[2J.txt', status: 'modified' as const }],
  changedCount: 1,
  kept: [],
}

test('14.2.4 /mode, /model and /permissions list and set what the session offers, with completion', () => {
  const one = new AttachDriver({ config })
  one.press('/mode p')
  expect(one.text).toMatch(/^\/mode plan {2}Plan/)
  expect(one.press(key('tab'), '\n')).toEqual({ type: 'configure', request: { mode: 'plan' } })
  expect(one.press('/model small\n')).toEqual({ type: 'configure', request: { model: 'small' } })
  expect(one.press('/permissions deny-all\n')).toEqual({ type: 'configure', request: { permissionMode: 'deny-all' } })
  one.press('/model\n')
  expect(one.said).toBe('● large Large\n○ small Small')
  one.press('/mode nope\n')
  expect(one.text).toMatch(/^No such mode\. There are: default, plan\n.*\n❯ \/mode nope$/)
  const bare = new AttachDriver()
  bare.press('/mode plan\n')
  expect(bare.text).toContain('The agent offers no mode.')
})

test('14.2.4 /diff, /rewind, /cost, /log and /help', () => {
  const one = new AttachDriver({ turnCount: 3 })
  expect(one.press('/diff\n')).toEqual({ type: 'diff' })
  expect(one.press('/diff 2\n')).toEqual({ type: 'diff', turn: 2 })
  expect(one.press('/rewind\n')).toEqual({ type: 'plan-rewind', turn: 2 })
  expect(one.press('/rewind 0\n')).toEqual({ type: 'plan-rewind', turn: 0 })
  expect(one.press('/cost\n')).toEqual({ type: 'cost' })
  expect(one.press('/log\n')).toEqual({ type: 'log' })
  expect(one.press(key('pageup'))).toEqual({ type: 'log' })
  expect(one.press(ctrl('o'))).toEqual({ type: 'log' })
  expect(one.press('/help\n')).toEqual({ type: 'help' })
  one.press('/diff everything\n')
  expect(one.text).toMatch(/^\/diff takes the number of a turn\.\n.*\n❯ \/diff everything$/)
})

test('14.2.4 a space before the slash makes a line a prompt', () => {
  const one = new AttachDriver()
  expect(one.press(' /help\n')).toEqual({ type: 'prompt', text: ' /help' })
})

test('14.2.4 an agent with a command of the same name has it, which is said once; two slashes are ours', () => {
  const one = new AttachDriver()
  one.show(commands('help', 'mode', 'detach', 'quit'))
  expect(one.press('/help me\n')).toEqual({ type: 'prompt', text: '/help me' })
  expect(one.said).toContain('! The agent has a command /help, which was sent to it. Ours is //help.')
  one.show(prompted('/help me'), ended())
  one.screen.takeFinished()
  expect(one.press('/help\n')).toEqual({ type: 'prompt', text: '/help' })
  expect(one.said).not.toContain('The agent has')
  expect(one.press('//help\n')).toEqual({ type: 'help' })
  one.show(prompted('/help'), ended())
  one.press('//mo')
  expect(one.text).toMatch(/^\/\/mode {2}\/\/model$/m)
})

test('14.2.4 attack: an agent that advertises /detach cannot keep anybody on the screen', () => {
  const one = new AttachDriver()
  one.show(commands('detach', 'quit'))
  expect(one.press('/detach\n')).toEqual({ type: 'detach' })
  expect(one.press('/quit\n')).toEqual({ type: 'detach' })
  expect(one.press('//detach\n')).toEqual({ type: 'detach' })
})

test('14.2.4 attack: names of commands with escapes, spaces or new lines are never completed nor drawn', () => {
  const one = new AttachDriver({}, { width: 50, height: 20 })
  one.show(commands('evil\u001B[2J', 'two words', 'line\nbreak', '', 'right\u202Eleft', ...many))
  one.press('/')
  expect(one.text).not.toMatch(/evil|words|break|left/)
  one.press('ev', key('tab'))
  expect(one.rows.at(-1)).toBe('❯ /ev')
})
const many = Array.from({ length: 10_000 }, (_, index) => `command-${index}`)

test.each(SIZES)('14.2.4 /rewind shows its plan and is done only by a typed y at %i×%i', (width, height) => {
  const one = new AttachDriver({ turnCount: 2 }, { width, height })
  one.press('/rewind 1\n')
  one.screen.askRewind(1, { plan: PLAN, now: NOW })
  expect(one.text).toMatch(/\? Set 1 file back to the end of turn 1\n {2}M {2}a\.txt\n {2}\[y\] rewind/)
  // Nobody has read it by now.
  expect(one.screen.key({ text: 'y', ctrl: false, meta: false }, NOW + 100)).toBeUndefined()
  expect(one.screen.key(pasted('y'), NOW + 1_000)).toBeUndefined()
  expect(one.screen.key({ text: 'y', isPasted: true, ctrl: false, meta: false }, NOW + 2_000)).toBeUndefined()
  const typed = { text: 'y', name: 'y', ctrl: false, meta: false }
  expect(one.screen.key(typed, NOW + 3_000)).toEqual({ type: 'rewind', turn: 1, checkpoint: 'c1' })
  one.screen.askRewind(1, { plan: PLAN, now: NOW })
  expect(one.screen.key(key('escape'), NOW + 1_000)).toBeUndefined()
  expect(one.text).toMatch(/^The files stay as they are\./)
})

test('14.2.4 the status row has the cost, and drops facts in the order that the docs say', () => {
  const usage = {
    turns: 1,
    unreported: 0,
    withoutTokens: 0,
    withoutCost: 0,
    busyMs: 1,
    cost: [{ amount: 1.25, currency: 'USD' }],
  }
  const row = (width: number): string | undefined => {
    const one = new AttachDriver(
      { config, usage, label: 'my-session', permissionMode: 'approve-reads' },
      { width, height: 20 },
    )
    one.show({ type: 'usage', used: 500, size: 1_000 })
    return one.rows.at(-2)
  }
  expect(row(120)).toBe(
    'my-session · demo · approve-reads · default · large · 50 % context · $1.25 · idle   /help · /detach exits',
  )
  expect(row(80)).toBe('my-session · approve-reads · large · $1.25 · idle   /help · /detach exits')
  expect(row(50)).toBe('my-session · approve-reads · $1.25 · idle   /help')
  expect(row(30)).toBe('approve-reads · idle   /help')
})

test('14.2.4 Ctrl-R searches the earlier prompts, and Enter takes one without sending it', () => {
  const one = new AttachDriver()
  for (const text of ['fix the tests', 'write docs', 'run the tests']) one.show(prompted(text), ended())
  one.screen.rememberOlder('old tests')
  one.press(ctrl('r'), 'tests')
  expect(one.text).toMatch(/^search "tests": run the tests/)
  one.press(ctrl('r'))
  expect(one.text).toMatch(/^search "tests": fix the tests/)
  one.press(ctrl('r'), ctrl('r'))
  expect(one.text).toMatch(/^search "tests": old tests/)
  expect(one.press('\n')).toBeUndefined()
  expect(one.text).toMatch(/❯ old tests$/)
  one.press(ctrl('u'), ctrl('r'), 'zzz')
  expect(one.text).toContain('nothing found')
  one.press(key('escape'))
  expect(one.text).toMatch(/❯ $/)
})

test.each([30, 50, 80, 120])('14.2.4 /help has every key and command, in %i columns', (width) => {
  const rows = attachHelp({ paint: createPaint(false), width })
  expect(rows.filter((row) => columnsOf(row) > width)).toEqual([])
  const text = rows.join('\n')
  for (const { keys } of ATTACH_KEYS) expect(text).toContain(keys)
  for (const { name } of OWN_COMMANDS) expect(text).toContain(`/${name}`)
})

test('14.2.4 rows that wait while a pager is open are bounded, which is said', () => {
  const one = new AttachDriver()
  for (let index = 0; index < 120; index += 1) one.show({ type: 'text-delta', text: 'row\n'.repeat(1_000) })
  const rows = one.screen.takeFinished()
  expect(rows.length).toBeLessThanOrEqual(50_001)
  expect(rows[0]).toMatch(/^… \d+ rows are left out; PageUp shows the whole log$/)
})
