import { MemoryEventStore } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { scripted } from './fixtures/scripted-agent.js'
import { memoryRegistry, owner } from './fixtures/test-registry.js'

// A reader of lines is never left without a word when what it has not read is gone.

test('lost lines are reported as one gap, followed by the lines that are left', async () => {
  const long = 'x'.repeat(2_000)
  const { startAgent } = scripted(async ({ emit, text }) => {
    for (let at = 0; at < 3_000; at++)
      await emit({ type: 'text-delta', text: `${text} ${at} ${at % 10 ? '' : long}\n` })
    await emit({ type: 'turn-end', reason: 'end_turn' })
  })
  const { registry } = await memoryRegistry({ startAgent, logs: new MemoryEventStore({ maxChars: 400_000 }) })
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'one' }, owner)
  await registry.waitTurn(id, 1)
  await registry.kill(id, owner)
  const { gap } = await registry.events(id, 3, 1)
  const reader = await registry.followOutput(id, '3.1')
  const [notice, ...rest] = (await reader.next()) ?? []
  expect(notice).toEqual({ cursor: String((gap?.first ?? 0) - 1), type: 'gap', gap: { after: 3, first: gap?.first } })
  expect(rest).toEqual([])
  const following: string[] = []
  for (let batch = await reader.next(); batch !== undefined; batch = await reader.next())
    for (const item of batch) following.push(item.type === 'line' ? item.line.line.slice(0, 12) : item.type)
  expect(following.at(-1)).toBe('status')
  expect(following).not.toContain('gap')
  // The lines that are left follow one another: none is missing, none comes twice.
  const numbers = following.flatMap((line) =>
    /^one (\d+)/.exec(line)?.[1] === undefined ? [] : [Number(line.split(' ')[1])],
  )
  expect(numbers.length).toBeGreaterThan(100)
  expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index))
})

test('a cursor beyond the end of the log gets a gap notice, then the next lines', async () => {
  const { registry } = await memoryRegistry(scripted())
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  const reader = await registry.followOutput(id, '99.1')
  expect(await reader.next()).toEqual([{ cursor: '2', type: 'gap', gap: { after: 99, first: 3 } }])
  await registry.prompt(id, { prompt: 'x' }, owner)
  expect((await reader.next())?.[0]).toMatchObject({ type: 'line', line: { line: '[user] x' } })
  reader.close()
})
