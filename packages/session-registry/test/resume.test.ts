import { AgentprotoError } from '@agentproto/contracts'
import type { StartAgent } from '@agentproto/contracts/agent'
import { openSessionRegistry } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { settled } from './fixtures/manual-clock.js'
import { echo, scripted } from './fixtures/scripted-agent.js'
import {
  allEvents,
  constantFolder,
  fileRegistry,
  fileStores,
  memoryRegistry,
  owner,
  resumableAdapters,
  temporaryHome,
  types,
} from './fixtures/test-registry.js'

const canResume = { resume: true, load: true }
/** After it an idle session that can be resumed sleeps. */
const IDLE_MS = 10 * 60_000

test('a session that sleeps is resumed by its next prompt, in its old conversation', async () => {
  const { startAgent, agents } = scripted(echo, canResume)
  const { registry, clock } = await memoryRegistry({ startAgent, adapters: resumableAdapters })
  const { id } = await registry.spawn({ adapter: 'fake', mode: 'plan', options: { a: 1 } }, owner)
  await registry.waitTurn(id, (await registry.prompt(id, { prompt: 'one' }, owner)).turn)
  await clock.advance(IDLE_MS)
  expect(await registry.get(id)).toMatchObject({ status: 'killed', state: 'asleep', resumable: true })
  const { turn } = await registry.prompt(id, { prompt: 'two' }, owner)
  expect(await registry.waitTurn(id, turn)).toMatchObject({ number: 2, text: 'echo: two' })
  const session = await registry.get(id)
  expect(session).toMatchObject({ status: 'running', resumedHow: 'resume', turnCount: 2 })
  expect([session.endedAt, session.stopReason, session.exitCode]).toEqual([undefined, undefined, undefined])
  expect(agents[1]?.options).toMatchObject({
    origin: { how: 'resume', agentSessionId: 'agent-1' },
    mode: 'plan',
    options: { a: 1 },
  })
  const events = await allEvents(registry, id)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
  expect(types(events).slice(5)).toEqual([
    'status',
    'session-stopped',
    'status',
    'status',
    'user-prompt',
    'text-delta',
    'turn-end',
  ])
})

test('F38 a session is resumed with the settings of its start, and not before its old process is gone', async () => {
  const { startAgent, agents } = scripted(echo, canResume)
  const { registry } = await memoryRegistry({ startAgent, adapters: resumableAdapters })
  const asked = { mode: 'plan', options: { a: 1 }, additionalDirectories: ['/tmp'] }
  const { id } = await registry.spawn({ adapter: 'fake', ...asked }, owner)
  let gone = (): void => undefined
  const [old] = agents
  if (old !== undefined) old.onStop = () => new Promise((resolve) => (gone = resolve))
  const killed = registry.kill(id, owner)
  await settled()
  await expect(registry.resume(id, {}, owner)).rejects.toMatchObject({ code: 'session_live' })
  expect(agents).toHaveLength(1)
  gone()
  await killed
  expect(await registry.resume(id, {}, owner)).toMatchObject({ status: 'running' })
  const { origin: _, signal: __, ...options } = old?.options ?? {}
  expect(agents[1]?.options).toMatchObject({ ...options, ...asked })
})

test('F39 a session that is not resumable stays ended', async () => {
  const { startAgent, agents } = scripted(echo, canResume)
  const { registry } = await memoryRegistry({ startAgent })
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await registry.kill(id, owner)
  expect(await registry.get(id)).toMatchObject({ status: 'killed', resumable: false })
  await expect(registry.resume(id, {}, owner)).rejects.toMatchObject({ code: 'not_resumable' })
  for (const whenBusy of [undefined, 'queue'] as const)
    await expect(
      registry.prompt(id, { prompt: 'x', ...(whenBusy === undefined ? {} : { whenBusy }) }, owner),
    ).rejects.toMatchObject({ code: 'session_ended' })
  expect(agents).toHaveLength(1)
})

test('an agent that can only load is loaded', async () => {
  const { startAgent, agents } = scripted(echo, { load: true })
  const { registry } = await memoryRegistry({ startAgent, adapters: resumableAdapters })
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await registry.kill(id, owner)
  expect(await registry.resume(id, {}, owner)).toMatchObject({ status: 'running', resumedHow: 'load' })
  expect(agents[1]?.options.origin).toEqual({ how: 'load', agentSessionId: 'agent-1' })
})

test('F55 without a way to take it up a session is refused, and begins anew only when that is asked for', async () => {
  for (const options of [{ ...scripted(echo, canResume) }, { ...scripted(echo), adapters: resumableAdapters }]) {
    const { registry } = await memoryRegistry(options)
    const { id } = await registry.spawn({ adapter: 'fake' }, owner)
    await expect(registry.resume(id, {}, owner)).rejects.toMatchObject({ code: 'session_live' })
    await registry.kill(id, owner)
    expect(await registry.get(id)).toMatchObject({ resumable: false })
    await expect(registry.resume(id, {}, owner)).rejects.toMatchObject({ code: 'not_resumable' })
    await expect(registry.prompt(id, { prompt: 'x' }, owner)).rejects.toMatchObject({ code: 'session_ended' })
    expect(await registry.resume(id, { fresh: true }, owner)).toMatchObject({ status: 'running', resumedHow: 'fresh' })
    expect(options.agents[1]?.options.origin).toEqual({ how: 'new' })
  }
})

test('two concurrent prompts to an ended session start one agent, and one of them is refused', async () => {
  const { startAgent, agents } = scripted(echo, canResume)
  const { registry, clock } = await memoryRegistry({ startAgent, adapters: resumableAdapters })
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await clock.advance(IDLE_MS)
  const outcomes = await Promise.allSettled(['a', 'b'].map((prompt) => registry.prompt(id, { prompt }, owner)))
  // Both look at their folder first, so either may be the first.
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(agents).toHaveLength(2)
})

test('F37 resumes that fail in a row wait longer each time, and the session has the reason', async () => {
  const { startAgent: first } = scripted(echo, canResume)
  let starts = 0
  const startAgent: StartAgent = (options, sink) => {
    starts += 1
    if (starts === 1) return first(options, sink)
    return Promise.reject(new AgentprotoError('not_resumable', 'The agent has no such session'))
  }
  const { registry, clock } = await memoryRegistry({ startAgent, adapters: resumableAdapters })
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await clock.advance(IDLE_MS)
  await expect(registry.prompt(id, { prompt: 'x' }, owner)).rejects.toMatchObject({ code: 'not_resumable' })
  expect(await registry.get(id)).toMatchObject({
    status: 'error',
    failure: { kind: 'load_session_failure' },
    resumable: true,
  })
  for (const wait of [1_000, 2_000, 4_000]) {
    await expect(registry.resume(id, {}, owner)).rejects.toMatchObject({ parts: { data: { retryAfterMs: wait } } })
    const before = starts
    await clock.advance(wait)
    await expect(registry.resume(id, {}, owner)).rejects.toMatchObject({ message: 'The agent has no such session.' })
    expect(starts).toBe(before + 1)
  }
})

test('12.B4 F37 after ten failed resumes no prompt wakes the session, which says so, but a requested resume does', async () => {
  const { startAgent: first } = scripted(echo, canResume)
  let broken = false
  let starts = 0
  const startAgent: StartAgent = (options, sink) => {
    starts += 1
    return broken ? Promise.reject(new AgentprotoError('spawn_failed', 'It does not start')) : first(options, sink)
  }
  const { registry, clock } = await memoryRegistry({ startAgent, adapters: resumableAdapters })
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await clock.advance(IDLE_MS)
  broken = true
  const prompt = (): Promise<unknown> => registry.prompt(id, { prompt: 'x' }, owner)
  for (let tries = 0; tries < 10; tries += 1) {
    await expect(prompt()).rejects.toMatchObject({ code: 'spawn_failed' })
    await clock.advance(5 * 60_000)
  }
  expect(starts).toBe(11)
  await expect(prompt()).rejects.toMatchObject({ code: 'not_resumable', message: expect.stringMatching(/^10 .*fresh/) })
  expect(starts).toBe(11)
  expect(await registry.get(id)).toMatchObject({ state: 'failed', wakeable: false, resumable: true, failedResumes: 10 })
  broken = false
  expect(await registry.resume(id, {}, owner)).toMatchObject({ status: 'running', resumedHow: 'resume' })
  expect(await registry.get(id)).not.toHaveProperty('failedResumes')
  await clock.advance(IDLE_MS)
  expect(await registry.get(id)).toMatchObject({ state: 'asleep', wakeable: true })
  await prompt()
  expect(await registry.waitTurn(id, 1)).toMatchObject({ text: 'echo: x' })
})

test('12.B4 a session sleeps on whose gateway died while it was resumed', async () => {
  const home = await temporaryHome()
  const options = { ...scripted(echo, canResume), adapters: resumableAdapters }
  const stopped = await fileRegistry(home, options)
  const { id } = await stopped.spawn({ adapter: 'fake', prompt: 'one' }, owner)
  await stopped.waitTurn(id, 1)
  await stopped.close()
  const dying = await openSessionRegistry({
    ...fileStores(home),
    ...options,
    startAgent: () => new Promise(() => undefined),
    workspaces: constantFolder('/tmp'),
    hostId: 'dead',
  })
  void dying.prompt(id, { prompt: 'two' }, owner).catch(() => undefined)
  await expect.poll(async () => (await dying.get(id)).state).toBe('starting')
  await settled()
  const next = await fileRegistry(home, options)
  expect(await next.get(id)).toMatchObject({
    state: 'asleep',
    wakeable: true,
    failure: { kind: 'process_exit', summary: 'The gateway ended while the session was being resumed' },
  })
  const { turn } = await next.prompt(id, { prompt: 'three' }, owner)
  expect(await next.waitTurn(id, turn)).toMatchObject({ text: 'echo: three' })
})

test('a session outlives its gateway: after a restart the next prompt takes it up', async () => {
  const home = await temporaryHome()
  const options = { ...scripted(echo, canResume), adapters: resumableAdapters }
  const before = await fileRegistry(home, options)
  const { id } = await before.spawn({ adapter: 'fake', prompt: 'one' }, owner)
  await before.waitTurn(id, 1)
  await before.close()
  const after = await fileRegistry(home, options)
  const reader = await after.followOutput(id, '1')
  const { turn } = await after.prompt(id, { prompt: 'two' }, owner)
  expect(await after.waitTurn(id, turn)).toMatchObject({ number: 2, text: 'echo: two' })
  expect(options.agents[1]?.options.origin).toEqual({ how: 'resume', agentSessionId: 'agent-1' })
  reader.close()
  expect((await after.output(id)).map(({ line }) => line)).toContain('echo: two')
  await after.kill(id, owner)
})
