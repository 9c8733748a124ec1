import { expect, test } from 'vitest'
import { readAnswer, Streamed } from '../src/answer.ts'
import { parseProfile } from '../src/profile.ts'

const read = (response: object, data: object = {}) =>
  readAnswer(response as never, parseProfile({ transport: 'stdio', data }))

test('an answer is its text content, and names its session', () => {
  const content = [{ type: 'text', text: 'a' }, { type: 'image', data: '', mimeType: 'image/png' }, { type: 'odd' }]
  expect(read({ result: { content, structuredContent: { threadId: 't1' } } })).toEqual({
    verdict: { reason: 'end_turn' },
    said: 'a\n[image image/png]',
    session: 't1',
  })
  expect(read({ result: { content: [], _meta: { session_id: 's1' } } }).session).toBe('s1')
})

test('the manifest may say where text and session stand', () => {
  const result = { structuredContent: { out: 'x', where: { id: 5 } } }
  expect(read({ result }, { text: 'structuredContent.out', session: 'structuredContent.where.id' })).toMatchObject({
    said: 'x',
    session: '5',
  })
})

test('F7 a failed call is an error, whichever way it says so', () => {
  const failed = { content: [{ type: 'text', text: 'overloaded' }], isError: true }
  expect(read({ result: failed })).toMatchObject({
    said: '',
    verdict: { reason: 'error', error: { message: 'overloaded' } },
  })
  expect(read({ error: { code: -32603, message: 'no', data: { a: 1 } } })).toMatchObject({
    verdict: { reason: 'error', error: { message: 'no', agentCode: -32603, data: { a: 1 } } },
  })
  expect(read({ result: { isError: true } }).verdict.error?.message).toBe('The agent failed the prompt')
  expect(read({})).toMatchObject({ said: '', verdict: { reason: 'end_turn' } })
})

test.each([
  ['nothing', [], 'whole', 'whole'],
  ['all of it', ['wh', 'ole'], 'whole', ''],
  ['its beginning', ['wh'], 'whole', 'ole'],
  ['an earlier message, then all of it', ['first. ', 'second'], 'second', ''],
  ['all of it, with other line ends', ['a\n', 'b'], 'a\n\nb\n', ''],
  ['something else', ['thinking about it'], 'whole', 'whole'],
])('what is said after %s was streamed', (_, pieces, answer, rest) => {
  const streamed = new Streamed()
  for (const piece of pieces) streamed.said(piece)
  expect(streamed.rest(answer)).toBe(rest)
})

test('a long answer that was streamed is not said again', () => {
  const streamed = new Streamed()
  const long = Array.from({ length: 40_000 }, (_, i) => `${i} `)
  for (const piece of long) streamed.said(piece)
  expect(streamed.rest(long.join(''))).toBe('')
})
