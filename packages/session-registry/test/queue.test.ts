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

test('15.4 a queued prompt that was taken back says so, and is not counted', async () => {
  const { script } = gated()
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'a' }, owner)
  await settled()
  for (const prompt of ['b', 'c']) await registry.prompt(id, { prompt, whenBusy: 'queue' }, owner)
  await registry.interrupt(id, owner, { turn: 2 })
  expect(await registry.get(id)).toMatchObject({ queuedPrompts: 1 })
  expect(await registry.turn(id, 2)).toMatchObject({ state: 'queued', sent: false })
  expect(await registry.turn(id, 3)).not.toHaveProperty('sent')
  await registry.interrupt(id, owner, { turn: 3 })
  expect((await registry.get(id)).queuedPrompts).toBeUndefined()
})

test('F18 an interrupt stops the queue: its prompts are never sent, their waiters return, their turns are cancelled', async () => {
  const { script, seen, open } = gated()
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'a' }, owner)
  await settled()
  const queued = ['b', 'c'].map((prompt) => registry.prompt(id, { prompt, whenBusy: 'queue' }, owner))
  expect((await Promise.all(queued)).map(({ turn }) => turn)).toEqual([2, 3])
  const waiting = Promise.all([2, 3].map((turn) => registry.waitTurn(id, turn)))
  await registry.interrupt(id, owner)
  expect(await waiting).toMatchObject([2, 3].map((number) => ({ number, reason: 'cancelled', sent: false, text: '' })))
  await settled()
  expect(seen).toEqual(['a'])
  const events = (await allEvents(registry, id)).slice(-4)
  expect(events.map(({ type, turn }) => [type, turn])).toEqual([
    ['user-prompt', 2],
    ['turn-end', 2],
    ['user-prompt', 3],
    ['turn-end', 3],
  ])
  // The numbers that were handed out are nobody else's: whoever waits for turn 2 cannot get a later prompt's.
  const { turn } = await registry.prompt(id, { prompt: 'd' }, owner)
  expect(turn).toBe(4)
  await settled()
  open()
  expect(await registry.waitTurn(id, turn)).toMatchObject({ text: 'done d' })
})

test('an interrupt that names a turn ends only that one, queued or running', async () => {
  const { script, seen, open } = gated()
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'a' }, owner)
  await settled()
  for (const prompt of ['b', 'c']) await registry.prompt(id, { prompt, whenBusy: 'queue' }, owner)
  const only = (turn: number): Promise<object> => registry.interrupt(id, owner, { turn })
  expect(await only(2)).toEqual({ wasBusy: true, sent: false })
  expect([await only(2), await only(9)]).toEqual([{ wasBusy: false }, { wasBusy: false }])
  expect(await registry.get(id)).toMatchObject({ turn: { number: 1, state: 'busy' } })
  expect(await only(1)).toEqual({ wasBusy: true })
  expect(await registry.waitTurn(id, 2)).toMatchObject({ reason: 'cancelled', sent: false })
  await settled()
  open()
  expect(await registry.waitTurn(id, 3)).toMatchObject({ text: 'done c', reason: 'end_turn' })
  expect(seen).toEqual(['a', 'c'])
  expect(await only(3)).toEqual({ wasBusy: false })
})

test('F19 whenBusy interrupt ends the running turn, takes its place, and the prompt says that it is not a request to stop', async () => {
  const { script, seen, open } = gated()
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'a' }, owner)
  await settled()
  const { turn } = await registry.prompt(id, { prompt: 'b', whenBusy: 'interrupt' }, owner)
  expect(await registry.waitTurn(id, 1)).toMatchObject({ reason: 'cancelled' })
  await settled()
  open()
  expect(await registry.waitTurn(id, turn)).toMatchObject({ number: 2, reason: 'end_turn' })
  expect(seen).toEqual(['a', expect.stringMatching(/^\[.* is not a request to stop\.\]\nb$/)])
  const prompt = (await allEvents(registry, id)).find((event) => event.type === 'user-prompt' && event.turn === 2)
  expect(prompt).toMatchObject({ content: [{ text: 'b' }], preface: [{ kind: 'interruption' }] })
  // What a person interrupts is a stop, and nothing is said about it.
  const stopped = await registry.prompt(id, { prompt: 'c' }, owner)
  await registry.interrupt(id, owner)
  await registry.waitTurn(id, stopped.turn)
  await registry.prompt(id, { prompt: 'd' }, owner)
  await settled()
  expect(seen.slice(2)).toEqual(['c', 'd'])
})

test('F19 an interrupting prompt runs before later prompts, and after those that it stopped', async () => {
  const { script, seen, open } = gated()
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'a' }, owner)
  await settled()
  await registry.prompt(id, { prompt: 'stopped', whenBusy: 'queue' }, owner)
  const [urgent, later] = await Promise.all([
    registry.prompt(id, { prompt: 'urgent', whenBusy: 'interrupt' }, owner),
    registry.prompt(id, { prompt: 'later', whenBusy: 'queue' }, owner),
  ])
  expect([urgent.turn, later.turn]).toEqual([3, 4])
  await settled()
  open()
  await registry.waitTurn(id, urgent.turn)
  await settled()
  open()
  expect(await registry.waitTurn(id, later.turn)).toMatchObject({ text: 'done later' })
  expect(seen).toEqual(['a', expect.stringContaining('urgent'), 'later'])
  expect(await registry.waitTurn(id, 2)).toMatchObject({ reason: 'cancelled', sent: false })
})

test('a kill cancels what is queued, each prompt with a turn-end of its own', async () => {
  const { script, seen } = gated()
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'a' }, owner)
  await settled()
  const { turn } = await registry.prompt(id, { prompt: 'b', whenBusy: 'queue' }, owner)
  const waiting = registry.waitTurn(id, turn)
  await registry.kill(id, owner)
  expect(await waiting).toMatchObject({ number: 2, reason: 'cancelled', sent: false })
  await settled()
  expect(seen).toEqual(['a'])
  const events = await allEvents(registry, id)
  expect(types(events).slice(-6)).toEqual([
    'text-delta',
    'turn-end',
    'user-prompt',
    'turn-end',
    'status',
    'session-stopped',
  ])
  expect(await registry.get(id)).toMatchObject({ status: 'killed', turnCount: 2 })
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

test('12.A8 a caller’s idempotency key is its own: nobody gets its answer, or makes the gateway forget it', async () => {
  const { registry } = await memoryRegistry(scripted())
  const other = { type: 'token', name: 'ci', scope: 'operate' } as const
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  const prompt = { prompt: 'x', idempotencyKey: 'k', whenBusy: 'queue' } as const
  expect(await registry.prompt(id, prompt, owner)).toEqual({ turn: 1 })
  expect(await registry.prompt(id, prompt, other)).toEqual({ turn: 2 })
  for (let at = 0; at < 1_100; at += 1) {
    const { turn } = await registry.prompt(id, { ...prompt, idempotencyKey: `flood ${at}` }, other)
    await registry.waitTurn(id, turn)
  }
  expect(await registry.prompt(id, prompt, owner)).toEqual({ turn: 1 })
})
