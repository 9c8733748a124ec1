import { expect, test } from 'vitest'
import { coverText, reachText } from '../web/settings/rule-words.js'

test('15.6 a rule that denies needs a part of a call, and one that allows all of it', () => {
  const match = { toolKind: 'execute', command: 'git push **' } as const
  expect(coverText({ decision: 'deny', match })).toBe(
    'every call that runs commands a part of which is the command git push **',
  )
  expect(coverText({ decision: 'allow', match })).toBe(
    'every call that runs commands, if each of its commands is git push **',
  )
  expect(coverText({ decision: 'allow', match: { command: 'make', path: '/a/**' } })).toBe(
    'every call, if each of its commands is make and each of its paths is /a/**',
  )
})

test('15.6 a rule with a kind alone says what else must hold, and one of an answer that it is for one call', () => {
  expect(coverText({ decision: 'allow', match: { toolKind: 'edit' } })).toBe(
    'every call that changes files, if each of its paths is in the folders of the session',
  )
  expect(coverText({ decision: 'allow', match: { toolKind: 'execute' } })).toContain('plain words')
  expect(coverText({ decision: 'allow', match: { call: 'digest' } })).toMatch(/^this same call again/)
})

test('15.6 a rule says where it holds', () => {
  expect(reachText({ lifetime: 'once', sessionId: 's_1' })).toBe('for the next such request of the session s_1')
  expect(reachText({ lifetime: 'session', sessionId: 's_1' }, 'a fix')).toBe(
    'in the session a fix (s_1), also when it is resumed',
  )
  expect(reachText({ lifetime: 'workspace', workspaceSlug: 'shop' })).toContain('the workspace shop')
})
