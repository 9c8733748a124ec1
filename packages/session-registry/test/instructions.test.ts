import type { AgentSignal, StartAgent } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { settled } from './fixtures/manual-clock.js'
import { echo, scripted, type Script } from './fixtures/scripted-agent.js'
import {
  allEvents,
  fileRegistry,
  memoryRegistry,
  owner,
  resumableAdapters,
  temporaryHome,
} from './fixtures/test-registry.js'

const canResume = { resume: true }
const spawn = { adapter: 'fake', instructions: 'Speak like a pirate.' }

/** Remembers what it was told. */
function listening(end: AgentSignal = { type: 'turn-end', reason: 'end_turn' }): { script: Script; heard: string[] } {
  const heard: string[] = []
  const script: Script = async ({ text, emit }) => {
    heard.push(text)
    await emit({ type: 'text-delta', text: 'aye' }, end)
  }
  return { script, heard }
}

test('instructions go before the first prompt, marked in the log, and never again', async () => {
  const { script, heard } = listening()
  const { registry } = await memoryRegistry({ ...scripted(script, canResume), adapters: resumableAdapters })
  const { id, instructed } = await registry.spawn(spawn, owner)
  expect(instructed).toBe('pending')
  for (const prompt of ['one', 'two']) await registry.waitTurn(id, (await registry.prompt(id, { prompt }, owner)).turn)
  expect(heard).toEqual(['Speak like a pirate.\none', 'two'])
  const prompts = (await allEvents(registry, id)).filter(({ type }) => type === 'user-prompt')
  expect(prompts).toMatchObject([
    { content: [{ text: 'one' }], preface: [{ kind: 'instructions', text: 'Speak like a pirate.' }] },
    { content: [{ text: 'two' }] },
  ])
  expect(prompts[1]).not.toHaveProperty('preface')
  expect(await registry.get(id)).toMatchObject({ instructed: 'prompt', title: 'one' })
  expect(await registry.turn(id, 1)).toMatchObject({ prompt: [{ text: 'one' }], preface: [{ kind: 'instructions' }] })
  await registry.kill(id, owner)
  await registry.resume(id, {}, owner)
  await registry.waitTurn(id, (await registry.prompt(id, { prompt: 'three' }, owner)).turn)
  expect(heard.at(-1)).toBe('three')
})

test('a new conversation does not know them: they are given again', async () => {
  const { script, heard } = listening()
  const { registry } = await memoryRegistry({ ...scripted(script, canResume), adapters: resumableAdapters })
  const { id } = await registry.spawn({ ...spawn, prompt: 'one' }, owner)
  await registry.waitTurn(id, 1)
  await registry.kill(id, owner)
  expect(await registry.resume(id, { fresh: true }, owner)).toMatchObject({ instructed: 'pending' })
  await registry.waitTurn(id, (await registry.prompt(id, { prompt: 'two' }, owner)).turn)
  expect(heard).toEqual(['Speak like a pirate.\none', 'Speak like a pirate.\ntwo'])
})

test('an agent with a channel of its own gets them there, at each start, and no prompt has them', async () => {
  const { script, heard } = listening()
  const { startAgent, agents } = scripted(script, canResume)
  const byChannel: StartAgent = async (options, sink) =>
    Object.assign(await startAgent(options, sink), { instructed: true })
  const { registry } = await memoryRegistry({ startAgent: byChannel, adapters: resumableAdapters })
  const { id } = await registry.spawn({ ...spawn, prompt: 'one' }, owner)
  await registry.waitTurn(id, 1)
  await registry.kill(id, owner)
  await registry.resume(id, {}, owner)
  await registry.waitTurn(id, (await registry.prompt(id, { prompt: 'two' }, owner)).turn)
  expect(heard).toEqual(['one', 'two'])
  expect(agents.map(({ options }) => options.instructions)).toEqual(Array(2).fill('Speak like a pirate.'))
  expect(await registry.get(id)).toMatchObject({ instructed: 'channel' })
})

test('12.B6 a channel gets the envelope before the instructions, with the facts of each start', async () => {
  const { script, heard } = listening()
  const { startAgent, agents } = scripted(script, canResume)
  const byChannel: StartAgent = async (options, sink) =>
    Object.assign(await startAgent(options, sink), { instructed: true })
  const { registry } = await memoryRegistry({ startAgent: byChannel, adapters: resumableAdapters })
  const { id } = await registry.spawn({ ...spawn, envelope: true, prompt: 'one' }, owner)
  await registry.waitTurn(id, 1)
  await registry.kill(id, owner)
  await registry.configure(id, { permissionMode: 'deny-all' }, owner)
  expect(await registry.resume(id, {}, owner)).toMatchObject({ envelope: 'channel', instructed: 'channel' })
  expect(heard).toEqual(['one'])
  const [first = '', second = ''] = agents.map(({ options }) => options.instructions ?? '')
  expect(first).toMatch(/^\[agentproto session\]\n[^]*- Permission mode: ask [^]*\n\nSpeak like a pirate\.$/)
  expect(second).toContain('- Permission mode: deny-all ')
})

test('instructions that no agent received are sent again: with a prompt that failed at once, or was never sent', async () => {
  const heard: string[] = []
  const script: Script = ({ text }) => {
    heard.push(text)
    throw new Error('no model')
  }
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ ...spawn, prompt: 'one' }, owner)
  expect(await registry.waitTurn(id, 1)).toMatchObject({ reason: 'error', empty: true })
  await registry.waitTurn(id, (await registry.prompt(id, { prompt: 'two' }, owner)).turn)
  expect(heard).toEqual(['Speak like a pirate.\none', 'Speak like a pirate.\ntwo'])
})

test('a restarted host knows whether they were given', async () => {
  const home = await temporaryHome()
  const { script, heard } = listening()
  const options = { ...scripted(script, canResume), adapters: resumableAdapters }
  const before = await fileRegistry(home, options)
  const told = await before.spawn({ ...spawn, prompt: 'one' }, owner)
  await before.waitTurn(told.id, 1)
  const untold = await before.spawn(spawn, owner)
  await before.close()
  heard.length = 0
  const after = await fileRegistry(home, options)
  for (const { id } of [told, untold])
    await after.waitTurn(id, (await after.prompt(id, { prompt: 'next' }, owner)).turn)
  expect(heard).toEqual(['next', 'Speak like a pirate.\nnext'])
})

test('a session without instructions has no member for them', async () => {
  const { registry } = await memoryRegistry(scripted(echo))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await settled()
  expect(await registry.get(id)).not.toHaveProperty('instructed')
  expect(await registry.waitTurn(id, 1)).toMatchObject({ text: 'echo: x' })
})
