import { expect, test } from 'vitest'
import { settled } from './fixtures/manual-clock.js'
import { echo, scripted, type Script } from './fixtures/scripted-agent.js'
import { allEvents, fileRegistry, memoryRegistry, owner, temporaryHome } from './fixtures/test-registry.js'

const working: Script = async ({ emit, text }) => {
  await emit({ type: 'thought', text: 'hm' }, { type: 'tool-call', toolCallId: 't', title: 'Reading', kind: 'read' })
  await emit({ type: 'plan', entries: [{ content: 'read', status: 'pending' }] })
  await emit({ type: 'tool-result', toolCallId: 't', status: 'completed', output: 'A' })
  const usage = { inputTokens: 3, outputTokens: 4 }
  await emit({ type: 'text-delta', text: `read ${text}` }, { type: 'turn-end', reason: 'end_turn', usage })
}

const parts = [
  { type: 'thought', text: 'hm' },
  { type: 'tool', toolCallId: 't', status: 'completed', title: 'Reading', kind: 'read', output: 'A' },
  { type: 'plan', entries: [{ content: 'read', status: 'pending' }] },
  { type: 'text', text: 'read a.txt' },
]

test('a turn is a resource: prompt, output parts, stop reason, usage and times', async () => {
  const { registry } = await memoryRegistry(scripted(working))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'a.txt' }, owner)
  const result = await registry.waitTurn(id, 1)
  expect(result).toMatchObject({ number: 1, state: 'ended', reason: 'end_turn', usage: { outputTokens: 4 }, parts })
  expect(result).toMatchObject({ durationMs: 0, startedAt: result.endedAt, text: 'read a.txt' })
  expect(await registry.turn(id, 1)).toEqual({ ...result, prompt: [{ type: 'text', text: 'a.txt' }] })
})

test('a turn that is read from the log of an earlier host is the one that was waited for', async () => {
  const home = await temporaryHome()
  const before = await fileRegistry(home, scripted(working))
  const { id } = await before.spawn({ adapter: 'fake', prompt: 'a.txt' }, owner)
  const result = await before.waitTurn(id, 1)
  await before.close()
  const after = await fileRegistry(home, scripted())
  expect(await after.waitTurn(id, 1)).toEqual(result)
  expect(await after.turns(id)).toEqual([expect.objectContaining({ number: 1, usage: result.usage })])
})

test('a running turn shows what it has put out so far', async () => {
  const { registry } = await memoryRegistry(
    scripted(async ({ emit, cancelled }) => {
      await emit({ type: 'text-delta', text: 'half' })
      await cancelled
    }),
  )
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await settled()
  expect(await registry.turn(id, 1)).toMatchObject({ state: 'running', text: 'half', prompt: [{ text: 'x' }] })
})

test('a queued prompt is a turn that waits: its number, prompt and time are known, and its events come later', async () => {
  const { registry, clock } = await memoryRegistry(scripted(async ({ cancelled }) => cancelled))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  const { turn } = await registry.prompt(id, { prompt: 'y', whenBusy: 'queue' }, owner)
  const queuedAt = new Date(clock.now()).toISOString()
  const afterSeq = (await registry.get(id)).lastSeq
  expect(await registry.turn(id, turn)).toEqual({
    number: 2,
    state: 'queued',
    queuedAt,
    prompt: [{ type: 'text', text: 'y' }],
    afterSeq,
  })
  expect(await registry.turns(id)).toHaveLength(1)
  await expect(registry.turn(id, 3)).rejects.toMatchObject({ code: 'turn_not_found' })
})

test('a queued prompt has the time since when it waited, and its turn has a duration', async () => {
  let open = (): void => undefined
  const script: Script = async ({ emit }) => {
    await new Promise<void>((resolve) => (open = resolve))
    await emit({ type: 'text-delta', text: '.' }, { type: 'turn-end', reason: 'end_turn' })
  }
  const { registry, clock } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  const start = clock.now()
  await registry.prompt(id, { prompt: 'y', whenBusy: 'queue' }, owner)
  await clock.advance(2_000)
  open()
  await registry.waitTurn(id, 1)
  await settled()
  await clock.advance(3_000)
  open()
  const time = (ms: number): string => new Date(start + ms).toISOString()
  expect(await registry.waitTurn(id, 2)).toMatchObject({
    queuedAt: time(0),
    startedAt: time(2_000),
    endedAt: time(5_000),
    durationMs: 3_000,
  })
  const prompts = (await allEvents(registry, id)).filter(({ type }) => type === 'user-prompt')
  expect(prompts).toMatchObject([{ origin: 'spawn' }, { origin: 'queue', queuedAt: time(0) }])
})

test('turns come in pages, of a restarted host too, whose memory holds the latest alone', async () => {
  const home = await temporaryHome()
  const before = await fileRegistry(home, scripted(echo))
  const { id } = await before.spawn({ adapter: 'fake' }, owner)
  for (let i = 1; i <= 60; i += 1) await before.waitTurn(id, (await before.prompt(id, { prompt: `p${i}` }, owner)).turn)
  const all = await before.turns(id)
  await before.close()
  const after = await fileRegistry(home, scripted(echo))
  const numbers = async (query: { after?: number; limit?: number }): Promise<number[]> =>
    (await after.turns(id, query)).map(({ number }) => number)
  expect(await numbers({ limit: 3 })).toEqual([1, 2, 3])
  expect(await numbers({ after: 3, limit: 2 })).toEqual([4, 5])
  expect(await numbers({ after: 58 })).toEqual([59, 60])
  expect(await numbers({ after: 60 })).toEqual([])
  expect(await after.turns(id)).toEqual(all)
  expect(await after.turn(id, 2)).toMatchObject({ text: 'echo: p2', prompt: [{ text: 'p2' }] })
})

test('a title comes from the first prompt, then from the agent; one that the caller gave stays', async () => {
  const named: Script = async ({ emit, text }) => {
    if (text === 'name it') await emit({ type: 'title', title: 'What the agent calls it' })
    await emit({ type: 'turn-end', reason: 'end_turn' })
  }
  const { registry } = await memoryRegistry(scripted(named))
  const own = await registry.spawn({ adapter: 'fake', prompt: 'First line\nsecond' }, owner)
  expect(own.title).toBe('First line')
  const given = await registry.spawn({ adapter: 'fake', prompt: 'First line', title: 'Mine' }, owner)
  for (const { id } of [own, given])
    await registry.waitTurn(id, (await registry.prompt(id, { prompt: 'name it', whenBusy: 'queue' }, owner)).turn)
  expect((await registry.get(own.id)).title).toBe('What the agent calls it')
  expect((await registry.get(given.id)).title).toBe('Mine')
})
