import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { FileCrashBundles, type SessionRegistry } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { settled } from './fixtures/manual-clock.js'
import { echo, scripted, type Script } from './fixtures/scripted-agent.js'
import { catalogOf, memoryRegistry, owner, temporaryHome } from './fixtures/test-registry.js'

const never: Script = () => new Promise(() => undefined)

test('a crash leaves a bundle that is bounded, redacted and the owner’s alone', async () => {
  const directory = join(await temporaryHome(), 'crash-bundles')
  const agents = scripted(never)
  const redact = (text: string): string => text.replaceAll('hunter2', '***')
  const { registry } = await memoryRegistry({ ...agents, redact, crashBundles: new FileCrashBundles({ directory }) })
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  const stderrTail = `hunter2 ${'x'.repeat(100_000)} the end: hunter2`
  agents.agents[0]?.die({ exitCode: 7, duringTurn: true, message: 'The agent exited with code 7', stderrTail })
  await registry.waitTurn(id, 1)
  await expect.poll(async () => (await registry.get(id)).status).toBe('exited')
  const path = (await registry.get(id)).failure?.crashBundlePath ?? ''
  const text = await readFile(path, 'utf8')
  expect(JSON.parse(text)).toMatchObject({
    schema: 'agentproto.session_crash_bundle.v1',
    session: { id, adapterSlug: 'fake', turnCount: 1 },
    agent: { name: 'scripted', version: '1.0.0', sessionId: 'agent-1' },
    failure: { kind: 'process_exit' },
    stopReason: 'agent_crashed',
    process: { pid: 4_194_303, startTime: '1' },
  })
  expect(text).not.toContain('hunter2')
  expect(text).toContain('the end: ***')
  expect(text.length).toBeLessThan(40_000)
  expect([(await stat(path)).mode & 0o777, (await stat(directory)).mode & 0o777]).toEqual([0o600, 0o700])
})

test('what a person asked for leaves no bundle, and the oldest go beyond two hundred', async () => {
  const directory = join(await temporaryHome(), 'crash-bundles')
  const crashBundles = new FileCrashBundles({ directory })
  const { registry } = await memoryRegistry({ ...scripted(), crashBundles })
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await registry.kill(id, owner)
  await expect(readdir(directory)).rejects.toThrow('ENOENT')
  const session = await registry.get(id)
  const failure = { kind: 'process_exit', summary: '' } as const
  for (let i = 0; i < 205; i += 1) {
    const at = new Date(1_700_000_000_000 + i).toISOString()
    await crashBundles.write({
      schema: 'agentproto.session_crash_bundle.v1',
      at,
      session,
      failure,
      stopReason: 'error',
    })
  }
  const names = (await readdir(directory)).toSorted()
  expect([names.length, names[0]?.slice(0, 24)]).toEqual([200, '2023-11-14T22-13-20-005Z'])
})

test('prompts that never reached the agent do not count towards max_turns, nor do refused ones', async () => {
  const wait: Script = async ({ emit, cancelled, text }) => {
    if (text === 'wait') await cancelled
    await emit({ type: 'text-delta', text }, { type: 'turn-end', reason: text === 'wait' ? 'cancelled' : 'end_turn' })
  }
  const { registry } = await memoryRegistry({
    ...scripted(wait),
    adapters: catalogOf({ session: { mode: 'resumable', maxTurns: 2 } }),
  })
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'wait' }, owner)
  await settled()
  await expect(registry.prompt(id, { prompt: 'no' }, owner)).rejects.toMatchObject({ code: 'turn_in_progress' })
  for (const prompt of ['b', 'c', 'd']) await registry.prompt(id, { prompt, whenBusy: 'queue' }, owner)
  await registry.interrupt(id, owner)
  await registry.waitTurn(id, 4)
  // It has had one turn of its two; the three that waited keep their numbers.
  expect(await registry.get(id)).toMatchObject({ status: 'running', turnCount: 4, unsentTurns: 3 })
  expect((await registry.archive.repair(await killed(registry, id), { dryRun: true }, owner)).findings).toEqual([])
  await registry.resume(id, { fresh: true }, owner)
  const { turn } = await registry.prompt(id, { prompt: 'e' }, owner)
  expect(await registry.waitTurn(id, turn)).toMatchObject({ number: 5, text: 'e' })
  await settled()
  expect(await registry.get(id)).toMatchObject({ status: 'killed', stopReason: 'max_iterations', unsentTurns: 3 })
  await expect(registry.resume(id, { fresh: true }, owner)).rejects.toMatchObject({ code: 'not_resumable' })
})

async function killed(registry: SessionRegistry, id: string): Promise<string> {
  await registry.kill(id, owner)
  return id
}

test('a manifest’s max_turns ends the session as max_iterations after its last turn', async () => {
  const { registry } = await memoryRegistry({
    ...scripted(echo),
    adapters: catalogOf({ session: { mode: 'ephemeral', maxTurns: 2 } }),
  })
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'one' }, owner)
  await registry.waitTurn(id, 1)
  expect(await registry.get(id)).toMatchObject({ status: 'running' })
  const { turn } = await registry.prompt(id, { prompt: 'two' }, owner)
  expect(await registry.waitTurn(id, turn)).toMatchObject({ text: 'echo: two' })
  await settled()
  expect(await registry.get(id)).toMatchObject({ status: 'killed', stopReason: 'max_iterations' })
})

test('health is what the host sees: healthy, degraded after a warning, dead at the end', async () => {
  const agents = scripted(never)
  const { registry, clock } = await memoryRegistry(agents)
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  const health = async (): Promise<string | undefined> => (await registry.get(id)).health
  expect(await health()).toBe('healthy')
  await clock.advance(15 * 60_000)
  expect(await health()).toBe('degraded')
  await agents.agents[0]?.sink.emit([{ type: 'text-delta', text: 'alive' }])
  expect(await health()).toBe('healthy')
  await registry.kill(id, owner)
  expect(await health()).toBe('dead')
})

test('health is unknown while the agent starts, and stale while it lives and cannot be talked to', async () => {
  const agents = scripted()
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  const { registry } = await memoryRegistry({
    startAgent: async (...args) => {
      await held
      return agents.startAgent(...args)
    },
  })
  const spawning = registry.spawn({ adapter: 'fake' }, owner)
  await expect.poll(async () => (await registry.list()).sessions[0]?.health, { timeout: 10_000 }).toBe('unknown')
  release()
  const { id } = await spawning
  const [agent] = agents.agents
  if (agent === undefined) throw new Error('no agent')
  agent.onStop = () => Promise.reject(new Error('Process 1 survives'))
  await expect(registry.kill(id, owner)).rejects.toThrow('survives')
  expect(await registry.get(id)).toMatchObject({ status: 'running', health: 'stale' })
  agent.onStop = () => Promise.resolve()
  await registry.kill(id, owner)
})
