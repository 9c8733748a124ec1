import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentConfig } from '@agentproto/contracts'
import type { AdapterSessionPolicy, ConfigChange, StartAgent } from '@agentproto/contracts/agent'
import type { SpawnAgentRequest } from '@agentproto/contracts/wire'
import type { SessionRegistry } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { ManualClock, settled } from './fixtures/manual-clock.js'
import { echo, scripted, type ScriptedAgent, type Script } from './fixtures/scripted-agent.js'
import {
  allEvents,
  fileRegistry,
  memoryRegistry,
  owner,
  resumableAdapters,
  temporaryHome,
} from './fixtures/test-registry.js'

/** As `resumableAdapters`, with more in the manifest. */
function adaptersWith(more: Partial<AdapterSessionPolicy>): typeof resumableAdapters {
  const session = { mode: 'resumable' as const, ...more }
  const named = async (slug: string) => ({ ...(await resumableAdapters.get(slug)), session })
  return { get: named, list: async () => [await named('fake')] }
}

const transcript = { continuation: ['pinned-session', 'transcript'] as const }

async function ended(
  policy: Partial<AdapterSessionPolicy>,
  { startAgent, spawn = {} }: { startAgent: StartAgent; spawn?: Partial<SpawnAgentRequest> },
) {
  const opened = await memoryRegistry({ startAgent, adapters: adaptersWith(policy) })
  const { id } = await opened.registry.spawn({ adapter: 'fake', prompt: 'one', ...spawn }, owner)
  await opened.registry.waitTurn(id, 1)
  await opened.registry.kill(id, owner)
  return { ...opened, id }
}

test('an agent without memory gets the transcript with the next prompt, once', async () => {
  const heard: string[] = []
  const script: Script = async ({ text, emit }) => {
    heard.push(text)
    await emit({ type: 'text-delta', text: `said ${heard.length}` }, { type: 'turn-end', reason: 'end_turn' })
  }
  const { startAgent, agents } = scripted(script)
  const { registry, id } = await ended(transcript, { startAgent, spawn: { instructions: 'Be brief.' } })
  expect(await registry.get(id)).toMatchObject({ resumable: true })
  await registry.resume(id, {}, owner)
  const { turn } = await registry.prompt(id, { prompt: 'two' }, owner)
  await registry.waitTurn(id, turn)
  expect(await registry.get(id)).toMatchObject({ resumedHow: 'transcript', status: 'running' })
  expect(agents[1]?.options.origin).toEqual({ how: 'new' })
  expect(heard[1]).toMatch(/^Be brief\.\nThe conversation so far.*User: one\n\nAgent: said 1\n.*\ntwo$/s)
  const prompt = (await allEvents(registry, id)).findLast(({ type }) => type === 'user-prompt')
  expect(prompt).toMatchObject({
    content: [{ text: 'two' }],
    preface: [{ kind: 'instructions' }, { kind: 'transcript' }],
  })
  await registry.waitTurn(id, (await registry.prompt(id, { prompt: 'three' }, owner)).turn)
  expect(heard[2]).toBe('three')
})

test('a prompt that was never sent is no part of the transcript', async () => {
  const heard: string[] = []
  const script: Script = async ({ text, emit, cancelled }) => {
    heard.push(text)
    if (text === 'long') await cancelled
    await emit({ type: 'turn-end', reason: 'end_turn' })
  }
  const { startAgent } = scripted(script)
  const { registry } = await memoryRegistry({ startAgent, adapters: adaptersWith(transcript) })
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'long' }, owner)
  await settled()
  await registry.prompt(id, { prompt: 'stopped', whenBusy: 'queue' }, owner)
  await registry.kill(id, owner)
  await registry.resume(id, {}, owner)
  await registry.waitTurn(id, (await registry.prompt(id, { prompt: 'next' }, owner)).turn)
  expect(heard.at(-1)).toContain('User: long')
  expect(heard.at(-1)).not.toContain('stopped')
})

test('resume by the agent is preferred to start arguments, and these to a transcript', async () => {
  const ways = [
    [{ resume: true, load: true }, 'resume'],
    [{ load: true }, 'load'],
    [{}, 'native'],
  ] as const
  for (const [capabilities, how] of ways) {
    const { startAgent, agents } = scripted(echo, capabilities)
    const { registry, id } = await ended({ ...transcript, resumesByFlags: true }, { startAgent })
    expect(await registry.resume(id, {}, owner)).toMatchObject({ resumedHow: how })
    expect(agents[1]?.options.origin).toEqual({ how, agentSessionId: 'agent-1' })
  }
})

test('a caller may name the way, of those that the manifest supports', async () => {
  const { startAgent } = scripted(echo, { resume: true })
  const { registry, id } = await ended(transcript, { startAgent })
  await expect(registry.resume(id, { continuation: 'native-resume' }, owner)).rejects.toMatchObject({
    code: 'continuation_unsupported',
    parts: { expected: 'one of pinned-session, transcript', given: 'native-resume' },
  })
  expect(await registry.resume(id, { continuation: 'transcript' }, owner)).toMatchObject({ resumedHow: 'transcript' })
  for (const continuation of ['native-resume', 'none'] as const) {
    await expect(registry.spawn({ adapter: 'fake', continuation }, owner)).rejects.toMatchObject({
      code: 'continuation_unsupported',
    })
  }
})

test('a session that is not to be continued is not resumable', async () => {
  const { startAgent } = scripted(echo, { resume: true })
  const spawn = { continuation: 'none' as const }
  const { registry, id } = await ended({ continuation: ['none'] }, { startAgent, spawn })
  expect(await registry.get(id)).toMatchObject({ resumable: false })
  await expect(registry.resume(id, {}, owner)).rejects.toMatchObject({ code: 'not_resumable' })
})

test('a session whose agent does not remember never hibernates by itself', async () => {
  const { startAgent } = scripted(echo)
  const { registry, clock } = await memoryRegistry({ startAgent, adapters: adaptersWith(transcript) })
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await registry.waitTurn(id, 1)
  await clock.advance(24 * 60 * 60_000)
  expect(await registry.get(id)).toMatchObject({ status: 'running', resumable: true })
})

test('a session that has used all its turns ends as max_iterations, and is not resumed', async () => {
  const { startAgent } = scripted(echo, { resume: true })
  const { registry } = await memoryRegistry({ startAgent, adapters: adaptersWith({ maxTurns: 1 }) })
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'one' }, owner)
  await registry.waitTurn(id, 1)
  await settled()
  expect(await registry.get(id)).toMatchObject({ status: 'killed', stopReason: 'max_iterations', resumable: false })
  await expect(registry.resume(id, {}, owner)).rejects.toMatchObject({ code: 'not_resumable' })
})

/** A session with one turn, whose agent would lose its conversation if it were loaded within a minute. */
async function youngSession() {
  const home = await temporaryHome()
  const { startAgent, agents } = scripted(echo, { load: true })
  const options = { startAgent, adapters: adaptersWith({ resumeAfterMs: 61_000 }) }
  const before = await fileRegistry(home, options)
  const { id } = await before.spawn({ adapter: 'fake', prompt: 'one' }, owner)
  await before.waitTurn(id, 1)
  return {
    home,
    id,
    agents,
    before,
    /** The host that waits is another one. */
    async next(at: string) {
      const clock = new ManualClock()
      return { clock, after: await fileRegistry(at, { ...options, clock }) }
    },
  }
}

const waits = (registry: SessionRegistry, id: string): Promise<void> =>
  expect
    .poll(async () => (await allEvents(registry, id)).at(-1))
    .toMatchObject({ type: 'runtime-progress', message: expect.stringContaining('is this young') as string })

test('a conversation that is too young is resumed when the agent will not lose it, and a kill ends the wait', async () => {
  const { home, id, agents, before, next } = await youngSession()
  await before.close()
  const { clock, after } = await next(home)
  const resumed = after.resume(id, {}, owner)
  await waits(after, id)
  expect(agents).toHaveLength(1)
  expect(await after.get(id)).toMatchObject({ status: 'starting' })
  await clock.advance(61_000)
  expect(await resumed).toMatchObject({ status: 'running', resumedHow: 'load' })
  await after.kill(id, owner)
  const again = after.resume(id, {}, owner)
  await settled()
  await after.kill(id, owner)
  await expect(again).rejects.toMatchObject({ code: 'cancelled' })
  expect(agents).toHaveLength(2)
})

test('12.B8 the wait for a young conversation is kept with the session: a killed host forgets nothing of it', async () => {
  const { home, id, agents, before, next } = await youngSession()
  await expect.poll(async () => readFile(join(home, 'sessions', id, 'meta.json'), 'utf8')).toContain('"agentStartedAt"')
  // What a kill -9 leaves is what is on the disk now.
  const left = await temporaryHome()
  await cp(home, left, { recursive: true })
  const { clock, after } = await next(left)
  const prompted = after.prompt(id, { prompt: 'two' }, owner)
  await waits(after, id)
  expect(agents).toHaveLength(1)
  await clock.advance(61_000)
  await prompted
  expect(await after.get(id)).toMatchObject({ status: 'running', resumedHow: 'load' })
  await before.close()
})

test('mode, model and options are restored at a resume, and what the agent refuses is reported', async () => {
  const offered = [
    { id: 'a', name: 'a' },
    { id: 'b', name: 'b' },
  ]
  const config = (value: string): AgentConfig => ({
    modes: offered,
    modeId: value,
    models: offered,
    modelId: value,
    options: [{ id: 'effort', name: 'Effort', value, values: offered.map(({ id }) => ({ value: id, name: id })) }],
  })
  const { startAgent, agents } = scripted(echo, { resume: true })
  const set: ConfigChange[] = []
  const configured: StartAgent = async (options, sink) => {
    const agent = (await startAgent(options, sink)) as ScriptedAgent
    await sink.emit([{ type: 'config', config: config('a') }])
    return Object.assign(agent, {
      configure: async (change: ConfigChange) => {
        set.push(change)
        if ('model' in change) throw new Error('no such model')
      },
    })
  }
  const { registry } = await memoryRegistry({ startAgent: configured, adapters: adaptersWith({}) })
  const servers = [{ name: 'docs', command: '/bin/docs', args: [], env: [] }]
  const { id } = await registry.spawn({ adapter: 'fake', mcpServers: servers, additionalDirectories: ['/tmp'] }, owner)
  // The agent changes by itself.
  await agents[0]?.sink.emit([{ type: 'config', config: config('b') }])
  await registry.kill(id, owner)
  await registry.resume(id, {}, owner)
  expect(set).toEqual([{ mode: 'b' }, { model: 'b' }, { optionId: 'effort', value: 'b' }])
  expect(agents[1]?.options).toMatchObject({ mcpServers: servers, additionalDirectories: ['/tmp'] })
  const warnings = (await allEvents(registry, id)).filter(({ type }) => type === 'runtime-warning')
  expect(warnings).toMatchObject([{ message: 'The agent could not be set to model b again: no such model' }])
})
