import { setImmediate } from 'node:timers/promises'
import { type AgentAnswer, type AgentRequest, systemClock, type ToolCall } from '@agentproto/contracts'
import type { EventStore, StoredLog } from '@agentproto/contracts/agent'
import { MemoryEventStore } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { scripted, type Script } from './fixtures/scripted-agent.js'
import { allEvents, memoryRegistry, owner, types } from './fixtures/test-registry.js'

const permission = (call: Partial<ToolCall> = {}): AgentRequest => ({
  kind: 'permission',
  toolCall: { type: 'tool-call', toolCallId: 't', title: 'Write', kind: 'edit', ...call },
  options: [
    { optionId: 'always', name: 'Always', kind: 'allow_always' },
    { optionId: 'once', name: 'Once', kind: 'allow_once' },
    { optionId: 'no', name: 'No', kind: 'reject_once' },
  ],
})
const question: AgentRequest = { kind: 'question', message: 'Which?', mode: 'form', schema: { type: 'object' } }

function asking(request: AgentRequest): { script: Script; answers: AgentAnswer[] } {
  const answers: AgentAnswer[] = []
  const script: Script = async ({ emit, ask }) => {
    answers.push(await ask(request))
    await emit({ type: 'turn-end', reason: 'end_turn' })
  }
  return { script, answers }
}

test('a request is logged, listed and answered once, and the second answer gets the name of the first caller', async () => {
  const { script, answers } = asking(permission())
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await expect.poll(async () => (await registry.requests(id)).length, { timeout: 10_000 }).toBe(1)
  const [pending] = await registry.requests(id)
  expect(pending).toMatchObject({ state: 'pending', turn: 1, request: { kind: 'permission' } })
  expect((await registry.waiting()).requests).toHaveLength(1)
  expect(await registry.get(id)).toMatchObject({ pendingRequests: 1, turn: { state: 'awaiting-input' } })
  const requestId = pending?.requestId ?? ''
  await expect(
    registry.answer({ id, requestId }, { outcome: 'selected', optionId: 'nope' }, owner),
  ).rejects.toMatchObject({ code: 'invalid_request' })
  const outcomes = await Promise.allSettled(
    ['once', 'no'].map((optionId) => registry.answer({ id, requestId }, { outcome: 'selected', optionId }, owner)),
  )
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect(outcomes[1]).toMatchObject({
    reason: { code: 'request_resolved', message: expect.stringContaining('owner') as string },
  })
  await registry.waitTurn(id, 1)
  expect(answers).toEqual([{ outcome: 'selected', optionId: 'once' }])
  expect(types(await allEvents(registry, id)).slice(2)).toEqual([
    'user-prompt',
    'agent-prompt',
    'agent-prompt-resolved',
    'turn-end',
  ])
  await expect(registry.answer({ id, requestId }, { outcome: 'cancelled' }, owner)).rejects.toMatchObject({
    code: 'request_resolved',
  })
  await expect(registry.answer({ id, requestId: 'r_none' }, { outcome: 'cancelled' }, owner)).rejects.toMatchObject({
    code: 'request_not_found',
  })
})

test('a question takes an action, not an option', async () => {
  const { script, answers } = asking(question)
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await expect.poll(async () => (await registry.requests(id)).length, { timeout: 10_000 }).toBe(1)
  const requestId = (await registry.requests(id))[0]?.requestId ?? ''
  await expect(
    registry.answer({ id, requestId }, { outcome: 'selected', optionId: 'once' }, owner),
  ).rejects.toMatchObject({ code: 'invalid_request' })
  await registry.answer({ id, requestId }, { outcome: 'accept', content: { colour: 'red' } }, owner)
  await registry.waitTurn(id, 1)
  expect(answers).toEqual([{ outcome: 'accept', content: { colour: 'red' } }])
})

test('F79 a request without an answer is denied after its time', async () => {
  const { script, answers } = asking(permission())
  const { registry, clock } = await memoryRegistry({ ...scripted(script), config: { requestTimeoutMs: 1_000 } })
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await expect.poll(async () => (await registry.requests(id)).length, { timeout: 10_000 }).toBe(1)
  await clock.advance(999)
  expect(answers).toEqual([])
  await clock.advance(1)
  await registry.waitTurn(id, 1)
  expect(answers).toEqual([{ outcome: 'selected', optionId: 'no', reason: 'No one answered within 1 s.' }])
  expect((await registry.requests(id))[0]).toMatchObject({ answeredBy: { type: 'timeout' } })
})

test('14.1.3 a request waits until it is answered: no limit and no silence ends it, unless a setting says so', async () => {
  const { script, answers } = asking(permission())
  const { registry, clock } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await expect.poll(async () => (await registry.requests(id)).length, { timeout: 10_000 }).toBe(1)
  for (let hour = 0; hour < 3; hour++) await clock.advance(3_600_000)
  expect(answers).toEqual([])
  expect(await registry.get(id)).toMatchObject({ status: 'running', turn: { state: 'awaiting-input' } })
  const [pending] = await registry.requests(id)
  const requestId = pending?.requestId ?? ''
  await registry.answer({ id, requestId }, { outcome: 'selected', optionId: 'once' }, owner)
  await registry.waitTurn(id, 1)
  expect(answers).toEqual([{ outcome: 'selected', optionId: 'once' }])
})

test('14.1.3 the limit of a start goes before that of the gateway; 0 is none', async () => {
  const { script, answers } = asking(permission())
  const { registry, clock } = await memoryRegistry({ ...scripted(script), config: { requestTimeoutMs: 1_000 } })
  const patient = await registry.spawn({ adapter: 'fake', prompt: 'x', requestTimeoutMs: 0 }, owner)
  const hasty = await registry.spawn({ adapter: 'fake', prompt: 'x', requestTimeoutMs: 500 }, owner)
  const waiting = async (): Promise<number> => (await registry.waiting()).requests.length
  await expect.poll(waiting, { timeout: 10_000 }).toBe(2)
  await clock.advance(500)
  await registry.waitTurn(hasty.id, 1)
  expect(answers).toEqual([{ outcome: 'selected', optionId: 'no', reason: 'No one answered within 0.5 s.' }])
  await clock.advance(10_000)
  expect(await registry.requests(patient.id)).toMatchObject([{ state: 'pending' }])
})

test('F78 an interrupt cancels pending requests, and logs it', async () => {
  const answers: AgentAnswer[] = []
  const script: Script = async ({ ask, cancelled, emit }) => {
    const asked = ask(permission())
    await cancelled
    answers.push(await asked)
    await emit({ type: 'turn-end', reason: 'cancelled' })
  }
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await expect.poll(async () => (await registry.requests(id)).length, { timeout: 10_000 }).toBe(1)
  await registry.interrupt(id, owner)
  expect(answers).toEqual([{ outcome: 'cancelled' }])
  expect(types(await allEvents(registry, id)).slice(-2)).toEqual(['agent-prompt-resolved', 'turn-end'])
  expect(await registry.get(id)).toMatchObject({ pendingRequests: 0 })
})

test('a kill cancels pending requests', async () => {
  const { script } = asking(permission())
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await expect.poll(async () => (await registry.requests(id)).length, { timeout: 10_000 }).toBe(1)
  await registry.kill(id, owner)
  expect((await registry.requests(id))[0]).toMatchObject({ state: 'resolved', answer: { outcome: 'cancelled' } })
})

test('no reader can answer before the permission mode does', async () => {
  const { script, answers } = asking(permission())
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', permissionMode: 'approve-all' }, owner)
  const reader = await registry.follow(id, 0)
  await registry.prompt(id, { prompt: 'x' }, owner)
  let quick: Promise<unknown> | undefined
  while (quick === undefined) {
    const batch = await reader.next()
    const events = (batch?.records ?? []).map(({ json }) => JSON.parse(json) as { type: string; requestId?: string })
    const asked = events.find(({ type }) => type === 'agent-prompt')
    if (asked === undefined) continue
    const requestId = asked.requestId ?? ''
    quick = registry.answer({ id, requestId }, { outcome: 'selected', optionId: 'no' }, owner).catch(() => undefined)
  }
  await quick
  await registry.waitTurn(id, 1)
  reader.close()
  expect(answers).toMatchObject([{ outcome: 'selected', optionId: 'once' }])
})

/** A medium that takes its time over answers. */
function slowToResolve(): EventStore {
  const inner = new MemoryEventStore()
  function slow(log: StoredLog): StoredLog {
    return {
      get lastSeq() {
        return log.lastSeq
      },
      async append(batch) {
        if (batch.some(({ type }) => type === 'agent-prompt-resolved')) {
          for (let turns = 0; turns < 20; turns++) await setImmediate()
        }
        await log.append(batch)
      },
      read: (after, limit) => log.read(after, limit),
      close: () => log.close(),
    }
  }
  return {
    async open(sessionId) {
      const { log, repairs } = await inner.open(sessionId)
      return { log: slow(log), repairs }
    },
    delete: (sessionId) => inner.delete(sessionId),
  }
}

test('a reader that sees a request in the log also sees the answer of the policy', async () => {
  const { script } = asking(permission())
  const { registry } = await memoryRegistry({ ...scripted(script), logs: slowToResolve() })
  const { id } = await registry.spawn({ adapter: 'fake', permissionMode: 'approve-all' }, owner)
  const reader = await registry.follow(id, 0)
  await registry.prompt(id, { prompt: 'x' }, owner)
  let requestId = ''
  while (requestId === '') {
    const batch = await reader.next()
    const asked = batch?.records.find(({ type }) => type === 'agent-prompt')
    if (asked !== undefined) requestId = (JSON.parse(asked.json) as { requestId: string }).requestId
  }
  expect(await registry.requests(id)).toMatchObject([{ requestId, state: 'resolved' }])
  const late = registry.answer({ id, requestId }, { outcome: 'selected', optionId: 'no' }, owner)
  await expect(late).rejects.toMatchObject({ code: 'request_resolved' })
  reader.close()
})

test('14.2.2 the requests of all sessions are listed oldest first, a page at a time', async () => {
  let now = Date.parse('2026-01-01T00:00:00Z')
  const clock = { ...systemClock, now: () => now }
  const { registry } = await memoryRegistry({ ...scripted(asking(permission()).script), clock })
  const ids: string[] = []
  // The third one is asked at the same time as the second.
  for (const at of [5_000, 1_000, 1_000, 9_000]) {
    now = Date.parse('2026-01-01T00:00:00Z') + at
    const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
    await expect.poll(async () => (await registry.requests(id)).length, { timeout: 10_000 }).toBe(1)
    ids.push(id)
  }
  const [fifth, first, second, last] = ids
  const all = (await registry.waiting()).requests
  const times = all.map(({ createdAt }) => createdAt)
  expect(times).toEqual(times.toSorted())
  expect(new Set(all.slice(0, 2).map(({ sessionId }) => sessionId))).toEqual(new Set([first, second]))
  expect(all.slice(2).map(({ sessionId }) => sessionId)).toEqual([fifth, last])

  const page = await registry.waiting({ limit: 1 })
  expect(page.requests).toEqual(all.slice(0, 1))
  // The place is found also when what it names is answered meanwhile.
  const [{ sessionId: id, requestId } = { sessionId: '', requestId: '' }] = page.requests
  await registry.answer({ id, requestId }, { outcome: 'selected', optionId: 'no' }, owner)
  const rest = await registry.waiting({ limit: 3, after: page.nextCursor })
  expect(rest).toEqual({ requests: all.slice(1) })
  await expect(registry.waiting({ after: 'x' })).rejects.toMatchObject({ code: 'invalid_request' })
})

/** Asks for as many things at once as its prompt says, each of seven million characters. */
function askingMuch(): { script: Script; answers: AgentAnswer[] } {
  const answers: AgentAnswer[] = []
  const script: Script = async ({ text, ask, emit }) => {
    const large = Array.from({ length: Number(text) }, () => permission({ input: { text: 'x'.repeat(7_000_000) } }))
    await Promise.all(large.map(async (request) => answers.push(await ask(request))))
    await emit({ type: 'turn-end', reason: 'end_turn' })
  }
  return { script, answers }
}

test('14.1.3 what the requests of one session hold has a bound while they wait: more is denied at once', async () => {
  const { script, answers } = askingMuch()
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: '5' }, owner)
  await expect.poll(async () => (await registry.get(id)).pendingRequests, { timeout: 10_000 }).toBe(2)
  expect(answers).toHaveLength(3)
  expect(answers[0]).toMatchObject({ optionId: 'no', reason: expect.stringContaining('too large together') as string })
})

test('14.1.3 a session keeps answered requests up to a bound of their size', async () => {
  const { script } = askingMuch()
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: '2', permissionMode: 'deny-all' }, owner)
  for (let turn = 1; turn <= 4; turn++) {
    await registry.waitTurn(id, turn)
    await registry.prompt(id, { prompt: '2' }, owner)
  }
  await registry.waitTurn(id, 5)
  expect(await registry.requests(id)).toHaveLength(4)
})

test('14.2.2 a page of what waits has a bound of its size, and its cursor leads to the rest', async () => {
  const { script } = askingMuch()
  const { registry } = await memoryRegistry(scripted(script))
  for (let count = 0; count < 3; count++) {
    const { id } = await registry.spawn({ adapter: 'fake', prompt: '2' }, owner)
    await expect.poll(async () => (await registry.get(id)).pendingRequests, { timeout: 10_000 }).toBe(2)
  }
  const first = await registry.waiting()
  expect(first.requests).toHaveLength(4)
  const second = await registry.waiting({ after: first.nextCursor ?? '' })
  expect(second.requests).toHaveLength(2)
  expect(second).not.toHaveProperty('nextCursor')
})
