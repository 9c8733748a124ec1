import type { AgentAnswer, SessionRequest } from '@agentproto/contracts'
import type { StoredSession } from '@agentproto/contracts/agent'
import { openSessionRegistry, type SessionRegistry } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { permission } from './fixtures/permission-requests.js'
import { scripted, type Script } from './fixtures/scripted-agent.js'
import {
  allEvents,
  fileRegistry,
  fileStores,
  owner,
  resumableAdapters,
  temporaryHome,
  constantFolder,
} from './fixtures/test-registry.js'

const workspaces = constantFolder('/tmp')
const call = { kind: 'execute', input: { call_id: 't1', command: 'git push && git tag x' } } as const

/** Asks for the same call in every turn, under another id. */
function asker(answers: AgentAnswer[] = []): Script {
  let calls = 0
  return async ({ ask, emit }) => {
    calls += 1
    const input = { ...call.input, call_id: `t${calls}` }
    answers.push(await ask(permission({ ...call, toolCallId: `t${calls}`, input })))
    await emit({ type: 'tool-call', toolCallId: `t${calls}`, status: 'in_progress' })
    await emit({ type: 'turn-end', reason: 'end_turn' })
  }
}

const common = { adapters: resumableAdapters, workspaces, hostId: 'dead' }

/** A host that dies while its agent asks. */
async function died(
  home: string,
  script: Script = asker(),
): Promise<{ id: string; requestId: string; dead: SessionRegistry }> {
  const dead = await openSessionRegistry({ ...fileStores(home), ...scripted(script, { load: true }), ...common })
  const { id } = await dead.spawn({ adapter: 'fake', prompt: 'go' }, owner)
  await expect.poll(async () => (await dead.requests(id)).length, { timeout: 10_000 }).toBe(1)
  const requestId = (await dead.requests(id))[0]?.requestId ?? ''
  expect(requestId).not.toBe('')
  return { id, requestId, dead }
}

/** The newest request of a session, once all that answers by itself has had its say. */
async function asked(registry: SessionRegistry, id: string, turn: number): Promise<SessionRequest | undefined> {
  const newest = async (): Promise<SessionRequest | undefined> => (await registry.requests(id)).at(-1)
  await expect.poll(async () => (await newest())?.turn, { timeout: 10_000 }).toBe(turn)
  await registry.configure(id, { permissionMode: 'ask' }, owner)
  return newest()
}

const next = (home: string, script: Script): Promise<SessionRegistry> =>
  fileRegistry(home, { ...scripted(script, { load: true }), adapters: resumableAdapters, workspaces })

test('a request that waited when its gateway died is listed as interrupted, and an answer is refused with that reason', async () => {
  const home = await temporaryHome()
  const { id, requestId } = await died(home)
  const registry = await next(home, asker())
  expect((await registry.waiting()).requests).toMatchObject([
    {
      requestId,
      sessionId: id,
      turn: 1,
      state: 'interrupted',
      answer: { outcome: 'cancelled' },
      answeredBy: { type: 'gateway-end' },
    },
  ])
  expect(await registry.requests(id)).toHaveLength(1)
  expect(await registry.get(id)).toMatchObject({ pendingRequests: 0 })
  await expect(
    registry.answer({ id, requestId }, { outcome: 'selected', optionId: 'once' }, owner),
  ).rejects.toMatchObject({
    code: 'request_interrupted',
    message: expect.stringContaining('gateway ended while the request waited') as string,
    parts: { data: { answeredBy: { type: 'gateway-end' }, turn: 1 } },
  })
  expect((await allEvents(registry, id)).find(({ type }) => type === 'agent-prompt-resolved')).toMatchObject({
    by: { type: 'gateway-end' },
  })
  // A third host finds it so too.
  await registry.close()
  const third = await next(home, asker())
  expect((await third.waiting()).requests).toMatchObject([{ requestId, state: 'interrupted' }])
})

test('an interrupted question can only be asked again', async () => {
  const home = await temporaryHome()
  const { id, requestId } = await died(home, async ({ ask }) => {
    await ask({ kind: 'question', message: '?', mode: 'form' })
  })
  const registry = await next(home, asker())
  expect((await registry.waiting()).requests).toMatchObject([{ requestId, state: 'interrupted' }])
  await expect(registry.answer({ id, requestId }, { outcome: 'accept', content: {} }, owner)).rejects.toMatchObject({
    code: 'request_interrupted',
    parts: { hint: expect.stringContaining('may ask again') as string },
  })
})

test('an interrupted request is answered ahead: the answer holds once, for the same call, in the same conversation', async () => {
  const home = await temporaryHome()
  const { id, requestId } = await died(home)
  const answers: AgentAnswer[] = []
  const registry = await next(home, asker(answers))
  const ahead = { outcome: 'selected', optionId: 'once', remember: 'once' } as const
  expect(await registry.answer({ id, requestId }, ahead, owner)).toMatchObject({
    state: 'resolved',
    answeredBy: { type: 'principal', name: 'owner' },
  })
  await expect(registry.answer({ id, requestId }, ahead, owner)).rejects.toMatchObject({
    code: 'request_resolved',
    message: expect.stringContaining('owner') as string,
  })
  expect((await registry.waiting()).requests).toEqual([])
  await registry.waitTurn(id, (await registry.prompt(id, { prompt: 'again' }, owner)).turn)
  expect(answers).toEqual([{ outcome: 'selected', optionId: 'once' }])
  await registry.prompt(id, { prompt: 'and again' }, owner)
  expect(await asked(registry, id, 3)).toMatchObject({ state: 'pending' })
})

test('what was decided ahead does not hold in a new conversation', async () => {
  const home = await temporaryHome()
  const { id, requestId } = await died(home)
  const registry = await next(home, asker())
  await registry.answer({ id, requestId }, { outcome: 'selected', optionId: 'once', remember: 'once' }, owner)
  await registry.resume(id, { fresh: true }, owner)
  await registry.prompt(id, { prompt: 'again' }, owner)
  expect(await asked(registry, id, 2)).toMatchObject({ state: 'pending' })
})

test.each(['once', 'no'])(
  'an answer that the agent was never heard to get holds when it asks again: %s',
  async (optionId) => {
    const home = await temporaryHome()
    const { id, requestId, dead } = await died(home, async ({ ask }) => {
      await ask(permission({ ...call, toolCallId: 't1' }))
      await new Promise(() => undefined)
    })
    await dead.answer({ id, requestId }, { outcome: 'selected', optionId }, owner)
    const answers: AgentAnswer[] = []
    const registry = await next(home, asker(answers))
    expect(await registry.requests(id)).toMatchObject([{ state: 'resolved', answeredBy: { name: 'owner' } }])
    await registry.waitTurn(id, (await registry.prompt(id, { prompt: 'again' }, owner)).turn)
    expect(answers).toMatchObject([{ outcome: 'selected', optionId }])
  },
)

test('an answer that the agent has begun to act on is not given again', async () => {
  const home = await temporaryHome()
  const { id, requestId, dead } = await died(home, async ({ ask, emit }) => {
    await ask(permission({ ...call, toolCallId: 't1' }))
    await emit({ type: 'tool-call', toolCallId: 't1', status: 'in_progress' })
    await new Promise(() => undefined)
  })
  await dead.answer({ id, requestId }, { outcome: 'selected', optionId: 'once' }, owner)
  const acted = async (): Promise<boolean> => (await allEvents(dead, id)).some(({ type }) => type === 'tool-call')
  await expect.poll(acted, { timeout: 10_000 }).toBe(true)
  const registry = await next(home, asker())
  await registry.prompt(id, { prompt: 'again' }, owner)
  expect(await asked(registry, id, 2)).toMatchObject({ state: 'pending' })
})

test('an orderly end of the gateway interrupts what waits as a crash does; a kill settles it', async () => {
  const home = await temporaryHome()
  const registry = await next(home, asker())
  const [waiting, killed] = await Promise.all(
    ['a', 'b'].map(() => registry.spawn({ adapter: 'fake', prompt: 'go' }, owner)),
  )
  await expect.poll(async () => (await registry.waiting()).requests.length, { timeout: 10_000 }).toBe(2)
  await registry.kill(killed?.id ?? '', owner)
  expect(await registry.requests(killed?.id ?? '')).toMatchObject([
    { state: 'resolved', answeredBy: { type: 'session-end' } },
  ])
  await registry.close()
  const after = await next(home, asker())
  expect((await after.waiting()).requests).toMatchObject([{ sessionId: waiting?.id, state: 'interrupted' }])
  await after.prompt(waiting?.id ?? '', { prompt: 'on' }, owner)
  await asked(after, waiting?.id ?? '', 2)
  // It is no longer listed: the conversation went on, and asked again.
  expect((await after.waiting()).requests.map(({ state, turn }) => [state, turn])).toEqual([['pending', 2]])
})

test('a rule for once that was used before a crash is not used again', async () => {
  const home = await temporaryHome()
  const saved: StoredSession[] = []
  const { id } = await died(home)
  const registry = await next(home, async ({ ask }) => {
    await ask(permission({ ...call, toolCallId: 't2' }))
    await new Promise(() => undefined)
  })
  await registry.permissions.addRule(
    { sessionId: id },
    { decision: 'deny', toolKind: 'execute', lifetime: 'once' },
    owner,
  )
  await registry.prompt(id, { prompt: 'again' }, owner)
  const answerer = async (): Promise<unknown> => (await registry.requests(id)).at(-1)?.answeredBy?.type
  await expect.poll(answerer, { timeout: 10_000 }).toBe('policy')
  // The clock of the test stands still: the record of the rule's use is not saved.
  const last = await fileRegistry(home, {
    ...scripted(asker(), { load: true }),
    adapters: resumableAdapters,
    workspaces,
    endLeftovers: async (stored) => void saved.push(stored),
  })
  expect(saved[0]?.rules).toHaveLength(1)
  expect(await last.permissions.rules({ sessionId: id })).toEqual([])
})
