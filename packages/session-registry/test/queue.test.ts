import { expect, test } from 'vitest'
import { settled } from './fixtures/manual-clock.js'
import { scripted, type Script } from './fixtures/scripted-agent.js'
import { allEvents, memoryRegistry, owner, types } from './fixtures/test-registry.js'

/** Answers when it is told to, or when it is cancelled. */
function gated(): { script: Script; seen: string[]; open: () => void } {
  const seen: string[] = []
  let open = (): void => undefined
  const script: Script = async ({ text, emit, cancelled }) => {
    seen.push(text)
    const opened = new Promise<'end_turn'>((resolve) => (open = () => resolve('end_turn')))
    const reason = await Promise.race([opened, cancelled.then(() => 'cancelled' as const)])
    await emit({ type: 'text-delta', text: `done ${text}` }, { type: 'turn-end', reason })
  }
  return { script, seen, open: () => open() }
}

test('F21 queued prompts are shown, keep their order and their numbers, and can be waited for', async () => {
  const { script, seen, open } = gated()
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  const numbers: number[] = []
  for (const prompt of ['a', 'b', 'c']) {
    numbers.push((await registry.prompt(id, { prompt, whenBusy: 'queue' }, owner)).turn)
  }
  expect(numbers).toEqual([1, 2, 3])
  expect(await registry.get(id)).toMatchObject({ queuedPrompts: 2, turn: { number: 1 } })
  const waiting = Promise.all(numbers.map((turn) => registry.waitTurn(id, turn)))
  for (let i = 0; i < 3; i += 1) {
    await settled()
    open()
  }
  expect((await waiting).map(({ text }) => text)).toEqual(['done a', 'done b', 'done c'])
  expect(seen).toEqual(['a', 'b', 'c'])
  expect((await registry.get(id)).queuedPrompts).toBeUndefined()
  const prompts = (await allEvents(registry, id)).filter((event) => event.type === 'user-prompt')
  expect(prompts.map(({ origin }) => origin)).toEqual(['prompt', 'queue', 'queue'])
})

test('F17 an eleventh queued prompt is refused, none is dropped in silence', async () => {
  const { script } = gated()
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'first' }, owner)
  for (let i = 0; i < 10; i += 1) await registry.prompt(id, { prompt: `q${i}`, whenBusy: 'queue' }, owner)
  await expect(registry.prompt(id, { prompt: 'x', whenBusy: 'queue' }, owner)).rejects.toMatchObject({
    code: 'queue_full',
  })
})

test('F18 an interrupt drops what is queued: it is never sent, its waiters are told, the log says so', async () => {
  const { script, seen } = gated()
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'a' }, owner)
  const { turn } = await registry.prompt(id, { prompt: 'b', whenBusy: 'queue' }, owner)
  const waiting = Promise.allSettled([registry.waitTurn(id, turn)])
  await registry.interrupt(id, owner)
  expect(await waiting).toMatchObject([{ status: 'rejected', reason: { code: 'cancelled' } }])
  await settled()
  expect(seen).toEqual(['a'])
  expect(types(await allEvents(registry, id))).toContain('runtime-warning')
})

test('whenBusy interrupt ends the running turn and takes its place', async () => {
  const { script, seen, open } = gated()
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'a' }, owner)
  await settled()
  const { turn } = await registry.prompt(id, { prompt: 'b', whenBusy: 'interrupt' }, owner)
  expect(await registry.waitTurn(id, 1)).toMatchObject({ reason: 'cancelled' })
  await settled()
  open()
  expect(await registry.waitTurn(id, turn)).toMatchObject({ number: 2, text: 'done b' })
  expect(seen).toEqual(['a', 'b'])
})

test('a kill drops what is queued', async () => {
  const { script, seen } = gated()
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'a' }, owner)
  await settled()
  await registry.prompt(id, { prompt: 'b', whenBusy: 'queue' }, owner)
  await registry.kill(id, owner)
  await settled()
  expect(seen).toEqual(['a'])
  expect(types(await allEvents(registry, id)).at(-1)).toBe('session-stopped')
})

test('F40 a call with a key that was used gives the first answer, and another request with it is refused', async () => {
  const { startAgent, agents } = scripted()
  const { registry, clock } = await memoryRegistry({ startAgent })
  const spawn = { adapter: 'fake', idempotencyKey: 'k' }
  const [one, two] = await Promise.all([registry.spawn(spawn, owner), registry.spawn(spawn, owner)])
  expect([one.id, agents.length]).toEqual([two.id, 1])
  await expect(registry.spawn({ ...spawn, label: 'other' }, owner)).rejects.toMatchObject({
    code: 'idempotency_conflict',
  })
  const prompt = { prompt: 'x', idempotencyKey: 'k' }
  const turns = await Promise.all([1, 2, 3].map(() => registry.prompt(one.id, prompt, owner)))
  expect(turns.map(({ turn }) => turn)).toEqual([1, 1, 1])
  await registry.waitTurn(one.id, 1)
  await clock.advance(10 * 60_000)
  expect(await registry.prompt(one.id, prompt, owner)).toEqual({ turn: 2 })
})

test('a call that failed may be made again with its key', async () => {
  const { registry } = await memoryRegistry(scripted(() => new Promise(() => undefined)))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'busy' }, owner)
  const prompt = { prompt: 'x', idempotencyKey: 'k' }
  await expect(registry.prompt(id, prompt, owner)).rejects.toMatchObject({ code: 'turn_in_progress' })
  await expect(registry.prompt(id, prompt, owner)).rejects.toMatchObject({ code: 'turn_in_progress' })
})
