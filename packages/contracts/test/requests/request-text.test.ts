import { expect, test } from 'vitest'
import { hostText, jsonText, planText, ruleText, toolContentText, toolInputText } from '../../src/index.js'

const asIs = (text: string): string => text

test('15.2 a rule says what it covers, with what comes from the agent quoted', () => {
  const quote = (text: string): string => `"${text}"`
  expect(ruleText({}, quote)).toBe('every call')
  expect(ruleText({ toolKind: 'execute', command: 'git *' }, quote)).toBe(
    'every call that runs commands a part of which is the command "git *"',
  )
  expect(ruleText({ toolKind: 'edit', path: '/a/**' }, quote)).toBe('every call that changes files that names "/a/**"')
  expect(ruleText({ call: 'digest', path: '/a' }, asIs)).toMatch(/^this same call again, /)
})

test('15.2 a raw input is JSON, but a text of several lines is shown line by line', () => {
  expect(toolInputText(undefined)).toBe('no input')
  expect(toolInputText('plain')).toBe('plain')
  expect(toolInputText([1])).toBe('[\n  1\n]')
  expect(toolInputText({})).toBe('{}')
  expect(toolInputText({ path: '/a', text: 'one\ntwo' })).toBe('{\n  "path": "/a"\n}\n"text":\none\ntwo')
  expect(toolInputText({ text: 'one\ntwo' })).toBe('"text":\none\ntwo')
})

test('15.2 the content of a call is its text, and anything else is JSON', () => {
  expect(toolContentText({ type: 'terminal', terminalId: 't1' })).toBe('terminal t1')
  expect(toolContentText({ type: 'content', content: { type: 'text', text: 'done' } })).toBe('done')
  const link = { type: 'resource_link', uri: 'file:///a', name: 'a' } as const
  expect(toolContentText({ type: 'content', content: link })).toBe(jsonText(link))
})

test('15.2 a plan is a text of the input', () => {
  expect(planText({ plan: 'First this' })).toBe('First this')
  for (const input of [undefined, 'plan', { plan: 7 }, ['plan']]) expect(planText(input)).toBeUndefined()
})

test('15.2 a host is in ASCII, and what has none says so', () => {
  expect(hostText('https://exämple.org:8443/x')).toBe('xn--exmple-cua.org:8443')
  expect(hostText('mailto:a@b')).toBe('none')
  expect(hostText('not an address')).toBe('not an address')
  expect(jsonText(undefined)).toBe('')
})

test('15.R2 a value that is nested deeply is not written as a text of megabytes', () => {
  const deep = JSON.parse('['.repeat(3_000) + ']'.repeat(3_000)) as unknown
  expect(toolInputText({ deep }).length).toBeLessThan(10_000)
  expect(toolInputText(deep)).toBe('['.repeat(3_000) + ']'.repeat(3_000))
})
