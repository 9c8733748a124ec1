import type { OutputItem } from '@agentproto/contracts'
import type { OutputReader } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { settled } from './fixtures/manual-clock.js'
import { scripted, type Script } from './fixtures/scripted-agent.js'
import { fileRegistry, memoryRegistry, owner, temporaryHome } from './fixtures/test-registry.js'

async function readAll(reader: OutputReader): Promise<OutputItem[]> {
  const items: OutputItem[] = []
  for (let batch = await reader.next(); batch !== undefined; batch = await reader.next()) items.push(...batch)
  return items
}

const lines = (items: readonly OutputItem[]): string[] =>
  items.flatMap((item) => (item.type === 'line' ? [item.line.line] : []))

const everything: Script = async ({ emit }) => {
  await emit({ type: 'thought', text: 'hm, ' }, { type: 'thought', text: 'yes\nno' })
  await emit({ type: 'text-delta', text: 'first ' }, { type: 'text-delta', text: 'line\nsecond' })
  await emit({ type: 'tool-call', toolCallId: 'a', toolName: 'bash', status: 'pending' })
  await emit({ type: 'tool-call', toolCallId: 'a', title: 'ls', status: 'in_progress' })
  await emit({ type: 'tool-result', toolCallId: 'a', status: 'completed' })
  await emit(
    { type: 'tool-call', toolCallId: 'b', title: 'rm' },
    { type: 'tool-result', toolCallId: 'b', status: 'failed' },
  )
  await emit({ type: 'plan', entries: [{ content: 'step', status: 'completed' }] })
  await emit({ type: 'output', stream: 'stderr', text: 'warn one\nwarn two\n' })
  await emit({ type: 'error', message: 'bad', stderrTail: 'trace' }, { type: 'turn-end', reason: 'error' })
}

test('every row of AIP-46’s projection in one turn, with the origin of each line', async () => {
  const { registry } = await memoryRegistry(scripted(everything))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'do it' }, owner)
  await registry.waitTurn(id, 1)
  expect(await registry.output(id)).toEqual(
    [
      ['stdout', '[user] do it'],
      ['stdout', '[thought] hm, yes'],
      ['stdout', '[thought] no'],
      ['stdout', 'first line'],
      ['stdout', 'second'],
      ['stdout', '[tool] bash'],
      ['stdout', '[tool] rm'],
      ['stdout', '[tool-error] rm'],
      ['stdout', '[plan] [x] step'],
      ['stderr', 'warn one'],
      ['stderr', 'warn two'],
      ['stdout', '[error] bad'],
      ['stderr', 'trace'],
      ['stdout', '── turn-end (error) ──'],
    ].map(([stream, line]) => ({ stream, line })),
  )
  expect(await registry.output(id, 1)).toEqual([{ stream: 'stdout', line: '── turn-end (error) ──' }])
})

test('F49 text without a newline becomes a line after 250 ms of silence, and not before', async () => {
  const quiet: Script = async (turn) => {
    await turn.emit({ type: 'text-delta', text: 'thinking' })
    await turn.cancelled
    await turn.emit({ type: 'turn-end', reason: 'cancelled' })
  }
  const { registry, clock } = await memoryRegistry(scripted(quiet))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await clock.advance(249)
  expect((await registry.output(id)).map(({ line }) => line)).toEqual(['[user] x'])
  await clock.advance(1)
  expect((await registry.output(id)).map(({ line }) => line)).toEqual(['[user] x', 'thinking'])
})

test('F49 a stream gets text without a newline after the silence, and a cancelled read loses nothing', async () => {
  const quiet: Script = async (turn) => {
    await turn.emit({ type: 'text-delta', text: 'thinking' })
    await turn.cancelled
    await turn.emit({ type: 'turn-end', reason: 'cancelled' })
  }
  const { registry, clock } = await memoryRegistry(scripted(quiet))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await settled()
  const reader = await registry.followOutput(id)
  expect(lines((await reader.next()) ?? [])).toEqual(['[user] x'])
  const cancelled = new AbortController()
  const unread = reader.next(cancelled.signal)
  await clock.advance(249)
  const before = clock.pending
  cancelled.abort()
  expect(await unread).toBeUndefined()
  expect(clock.pending).toBe(before - 1)
  const reading = reader.next()
  await clock.advance(1)
  expect(lines((await reading) ?? [])).toEqual(['thinking'])
  reader.close()
  expect(await reader.next()).toBeUndefined()
})

test('a stream begins with the buffered lines, goes on live, and ends with the terminal status', async () => {
  const { registry } = await memoryRegistry(scripted())
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'one' }, owner)
  await registry.waitTurn(id, 1)
  const reading = readAll(await registry.followOutput(id))
  await settled()
  await registry.waitTurn(id, (await registry.prompt(id, { prompt: 'two' }, owner)).turn)
  await registry.kill(id, owner)
  const items = await reading
  expect(lines(items)).toEqual([
    '[user] one',
    'echo: one',
    '── turn-end (end_turn) ──',
    '[user] two',
    'echo: two',
    '── turn-end (end_turn) ──',
  ])
  expect(items.at(-1)).toMatchObject({ type: 'status', status: { status: 'killed' } })
  expect(new Set(items.map(({ cursor }) => cursor)).size).toBe(items.length)
})

test('a stream resumes after any cursor without loss or repetition, also from before the ring', async () => {
  const flood: Script = async ({ emit }) => {
    for (let i = 0; i < 60; i += 1) {
      await emit(...Array.from({ length: 100 }, (_, j) => ({ type: 'text-delta', text: `${i}.${j}\nhalf` }) as const))
    }
    await emit({ type: 'turn-end', reason: 'end_turn' })
  }
  for (const registry of [
    (await memoryRegistry(scripted(flood))).registry,
    await fileRegistry(await temporaryHome(), scripted(flood)),
  ]) {
    const { id } = await registry.spawn({ adapter: 'fake' }, owner)
    const live = readAll(await registry.followOutput(id))
    await settled()
    await registry.waitTurn(id, (await registry.prompt(id, { prompt: 'x' }, owner)).turn)
    await registry.kill(id, owner)
    const all = await live
    expect(lines(all).length).toBeGreaterThan(6_000)
    for (const from of [0, 1, 5, 1_000, 3_333, all.length - 2, all.length - 1]) {
      const resumed = await readAll(await registry.followOutput(id, all[from]?.cursor))
      expect(resumed.map(({ cursor }) => cursor)).toEqual(all.slice(from + 1).map(({ cursor }) => cursor))
      expect(lines(resumed)).toEqual(lines(all.slice(from + 1)))
    }
    expect((await registry.output(id, 5_000)).length).toBeGreaterThanOrEqual(2_000)
  }
})

test('a cursor that is none is refused', async () => {
  const { registry } = await memoryRegistry(scripted())
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  for (const cursor of ['x', '1.', '-1', '1.2.3']) {
    await expect(registry.followOutput(id, cursor)).rejects.toMatchObject({ code: 'invalid_request' })
  }
})

test('a session that is forgotten leaves no timer that would hold its lines', async () => {
  const { registry, clock } = await memoryRegistry(scripted(everything))
  const before = clock.pending
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'do it' }, owner)
  await registry.waitTurn(id, 1)
  const reader = await registry.followOutput(id)
  await registry.output(id)
  await registry.kill(id, owner)
  await registry.forget(id, owner)
  reader.close()
  await settled()
  // The list of records is stored a moment later, which is a timer of the store's.
  await clock.advance(2_000)
  expect(clock.pending).toBe(before)
})
