import { PERMISSION_MODES, SESSION_STATE_TEXT, SESSION_STATUSES, STOP_REASON_TEXT } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { TRANSITIONS } from '../../packages/session-registry/src/session/lifecycle.ts'
import { codeRows, page } from '../markdown.ts'
import { ROOT } from '../packages.ts'

const rows = codeRows(page(ROOT, 'docs/lifecycle.md'))
const statuses: readonly string[] = SESSION_STATUSES

test('docs/lifecycle.md and the status machine have the same transitions, in the same words', () => {
  const documented = rows.filter(([from = '', to = '']) => statuses.includes(from) && statuses.includes(to))
  expect(documented).toEqual(TRANSITIONS.map(({ from, to, on }) => [from, to, on]))
})

test('every status can be reached, and only a resume leaves an ended one', () => {
  expect(new Set(['starting', ...TRANSITIONS.map(({ to }) => to)])).toEqual(new Set(statuses))
  const ended = TRANSITIONS.filter(({ from }) => from !== 'starting' && from !== 'running')
  expect(ended.map(({ from, to }) => `${from} ${to}`)).toEqual(['exited starting', 'killed starting', 'error starting'])
})

test('docs/lifecycle.md explains every stop reason, in the words of the command line', () => {
  expect(rows).toEqual(
    expect.arrayContaining(Object.entries(STOP_REASON_TEXT).map((row) => expect.arrayContaining(row))),
  )
})

test('12.B4 docs/lifecycle.md explains every state of a session, in the words of the command line', () => {
  expect(rows).toEqual(
    expect.arrayContaining(Object.entries(SESSION_STATE_TEXT).map((row) => expect.arrayContaining(row))),
  )
})

test('docs/permissions.md names every permission mode', () => {
  const modes = codeRows(page(ROOT, 'docs/permissions.md')).map(([cell = '']) => cell.replace(' (default)', ''))
  expect(modes).toEqual(expect.arrayContaining([...PERMISSION_MODES]))
})
