import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { select, startDemoClient } from './demo-client.js'

test('ask writes only what was allowed', async () => {
  const onPermission = vi.fn().mockResolvedValueOnce(select('reject')).mockResolvedValueOnce(select('allow'))
  const demo = await startDemoClient({ onPermission })
  expect(await demo.say('ask a.txt yes')).toBe('I was not allowed to write a.txt.')
  expect(existsSync(join(demo.cwd, 'a.txt'))).toBe(false)
  expect(await demo.say('ask a.txt yes')).toBe('I was allowed to write a.txt.')
  expect(readFileSync(join(demo.cwd, 'a.txt'), 'utf8')).toBe('yes\n')
  expect(onPermission.mock.lastCall?.[0]).toMatchObject({
    toolCall: { toolCallId: 'call-2-1', kind: 'edit', rawInput: { text: 'yes\n' } },
    options: [{ kind: 'allow_once' }, { kind: 'allow_always' }, { kind: 'reject_once' }, { kind: 'reject_always' }],
  })
})

test('always is remembered for the session, once is not', async () => {
  const onPermission = vi.fn(async () => select('always'))
  const demo = await startDemoClient({ onPermission })
  await demo.prompt('ask a.txt; ask b.txt')
  expect(onPermission).toHaveBeenCalledTimes(1)
})

test('a cancel ends a turn with an unanswered permission, and nothing is written', async () => {
  const demo = await startDemoClient({ onPermission: () => new Promise(() => {}) })
  const turn = demo.prompt('ask a.txt')
  await expect.poll(() => demo.updates.length).toBe(1)
  await demo.cancel()
  expect(await turn).toEqual({ stopReason: 'cancelled' })
  expect(existsSync(join(demo.cwd, 'a.txt'))).toBe(false)
})

test('question uses the answer of the form', async () => {
  const onQuestion = vi.fn(async () => ({ action: 'accept', content: { colour: 'red' } }) as const)
  const demo = await startDemoClient({ onQuestion })
  expect(await demo.say('question')).toBe('The answer was accept {"colour":"red"}.')
})

test('question reports a refusal', async () => {
  const demo = await startDemoClient()
  expect(await demo.say('question Why?')).toBe('The answer was decline.')
})
