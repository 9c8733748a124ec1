import { HOST_EVENT_TYPES, STREAM_EVENT_TYPES, TURN_END_REASONS } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { codeRows, page } from '../markdown.ts'
import { ROOT } from '../packages.ts'

const text = page(ROOT, 'docs/events.md')
const typesUnder = (heading: string): readonly string[] =>
  codeRows(text.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '').map(([type = '']) => type)

test('docs/events.md has every event type of an arm, and no other', () => {
  expect(typesUnder('From the agent').toSorted()).toEqual([...STREAM_EVENT_TYPES].toSorted())
})

test('docs/events.md has every event type of the host, and no other', () => {
  expect(typesUnder('From the host').toSorted()).toEqual([...HOST_EVENT_TYPES].toSorted())
})

test('docs/events.md has every reason for the end of a turn', () => {
  expect(TURN_END_REASONS.filter((reason) => !text.includes(`\`${reason}\``))).toEqual([])
})
