import { HOST_EVENT_TYPES, STREAM_EVENT_TYPES, TURN_END_REASONS } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { codeRows, page } from '../markdown.ts'
import { ROOT } from '../packages.ts'

const text = page(ROOT, 'docs/events.md')
const typesUnder = (heading: string): readonly string[] =>
  codeRows(text.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '').map(([type = '']) => type)

test('docs/events.md has every type that an arm may say, and no other', () => {
  expect(typesUnder('From the agent').toSorted()).toEqual([...STREAM_EVENT_TYPES].toSorted())
})

test('docs/events.md has every type that the host adds, and no other', () => {
  expect(typesUnder('From the host').toSorted()).toEqual([...HOST_EVENT_TYPES].toSorted())
})

test('docs/events.md names every reason for which a turn ends', () => {
  expect(TURN_END_REASONS.filter((reason) => !text.includes(`\`${reason}\``))).toEqual([])
})
