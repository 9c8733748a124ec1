import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SetSessionConfigOptionRequest } from '@agentclientprotocol/sdk'
import { expect, test } from 'vitest'
import { startDemoClient, temporaryFolder } from './demo-client.js'

test('anything else is answered with an echo', async () => {
  const demo = await startDemoClient()
  expect(await demo.say('hello world')).toBe('echo: hello world')
})

test('words are joined by ; and \\; is a literal one', async () => {
  const demo = await startDemoClient()
  expect(await demo.say('stream 2; a\\;b ;; hello')).toBe('chunk 1\nchunk 2\necho: a;becho: hello')
})

test('a name of Object.prototype is no word', async () => {
  const demo = await startDemoClient()
  expect(await demo.say('constructor')).toBe('echo: constructor')
})

test('stream sends so many chunks, in order', async () => {
  const demo = await startDemoClient()
  const { stopReason } = await demo.prompt('stream 500')
  expect(stopReason).toBe('end_turn')
  expect(demo.updates.map((update) => 'content' in update && update.content)).toEqual(
    Array.from({ length: 500 }, (_, i) => ({ type: 'text', text: `chunk ${i + 1}\n` })),
  )
})

test('think sends thoughts before the answer', async () => {
  const demo = await startDemoClient()
  expect(await demo.say('think cats')).toBe('I thought about cats.')
  expect(demo.updates.map((update) => update.sessionUpdate)).toEqual([
    'agent_thought_chunk',
    'agent_thought_chunk',
    'agent_thought_chunk',
    'agent_message_chunk',
  ])
})

test('write writes a real file and shows the diff', async () => {
  const demo = await startDemoClient()
  writeFileSync(join(demo.cwd, 'a.txt'), 'old\n')
  expect(await demo.say('write a.txt new words')).toBe('I wrote a.txt.')
  expect(readFileSync(join(demo.cwd, 'a.txt'), 'utf8')).toBe('new words\n')
  const path = join(demo.cwd, 'a.txt')
  expect(demo.updates.slice(0, 3)).toMatchObject([
    { sessionUpdate: 'tool_call', kind: 'edit', status: 'pending', locations: [{ path }] },
    { sessionUpdate: 'tool_call_update', status: 'in_progress' },
    { status: 'completed', content: [{ type: 'diff', path, oldText: 'old\n', newText: 'new words\n' }] },
  ])
})

test('read shows what is in a file', async () => {
  const demo = await startDemoClient()
  writeFileSync(join(demo.cwd, 'a.txt'), 'content')
  expect(await demo.say('read a.txt')).toBe('I read a.txt.')
  expect(demo.updates[2]).toMatchObject({
    status: 'completed',
    content: [{ type: 'content', content: { type: 'text', text: 'content' } }],
  })
  expect(await demo.say('read missing.txt')).toBe('I could not read missing.txt.')
  expect(demo.updates[2]).toMatchObject({ status: 'failed' })
})

test('no file outside the working folder is touched, not even through a symlink', async () => {
  const outside = temporaryFolder()
  const demo = await startDemoClient()
  symlinkSync(outside, join(demo.cwd, 'link'))
  expect(await demo.say('write ../x.txt y')).toBe('I could not write ../x.txt.')
  expect(await demo.say('write link/x.txt y')).toBe('I could not write link/x.txt.')
  expect(await demo.say('read /etc/hostname')).toBe('I could not read /etc/hostname.')
  expect(existsSync(join(outside, 'x.txt'))).toBe(false)
})

test('run runs a real command, with its output in the tool call', async () => {
  const demo = await startDemoClient()
  expect(await demo.say('run echo out\\; echo err >&2\\; pwd')).toBe('The command succeeded.')
  expect(demo.updates[2]).toMatchObject({ status: 'completed', rawOutput: { exitCode: 0 } })
  expect(JSON.stringify(demo.updates[2])).toContain(demo.cwd)
  expect(await demo.say('run exit 3')).toBe('The command failed.')
  expect(demo.updates[2]).toMatchObject({ status: 'failed', rawOutput: { exitCode: 3 } })
})

test('plan works off three steps', async () => {
  const demo = await startDemoClient()
  await demo.prompt('plan')
  const plans = demo.updates.filter((update) => update.sessionUpdate === 'plan')
  const completed = plans.map(({ entries }) => entries.filter(({ status }) => status === 'completed').length)
  expect(completed).toEqual([0, 1, 2, 3])
})

test('usage reports a cost and tokens as asked', async () => {
  const demo = await startDemoClient()
  const answer = await demo.prompt('usage 2.5 300')
  expect(answer).toMatchObject({ usage: { inputTokens: 300, totalTokens: 310 } })
  expect(demo.updates[0]).toMatchObject({ used: 300, cost: { amount: 2.5, currency: 'USD' } })
})

test('usage reports the context and the tokens of the turn', async () => {
  const demo = await startDemoClient({ args: ['--model', 'demo-2'] })
  const answer = await demo.prompt('usage')
  expect(answer).toMatchObject({ stopReason: 'end_turn', usage: { inputTokens: 1000, totalTokens: 1010 } })
  expect(demo.updates[0]).toMatchObject({ sessionUpdate: 'usage_update', used: 1000, size: 200_000 })
})

test('plan mode writes and runs nothing', async () => {
  const demo = await startDemoClient({ args: ['--mode', 'plan'] })
  expect(await demo.say('write a.txt; run touch b.txt; ask')).toBe(
    'I would write a.txt.I would run touch b.txt.I would ask to write demo.txt.',
  )
  expect(existsSync(join(demo.cwd, 'a.txt'))).toBe(false)
})

test('mode and model are options, and a change of mode is reported', async () => {
  const demo = await startDemoClient()
  const { sessionId } = demo
  const params: SetSessionConfigOptionRequest = { sessionId, configId: 'model', value: 'demo-2' }
  const { configOptions } = await demo.agent.request('session/set_config_option', params)
  expect(configOptions).toMatchObject([
    { id: 'mode', currentValue: 'default' },
    { id: 'model', currentValue: 'demo-2' },
  ])
  await demo.agent.request('session/set_mode', { sessionId, modeId: 'plan' })
  await expect.poll(() => demo.updates).toContainEqual({ sessionUpdate: 'current_mode_update', currentModeId: 'plan' })
  await expect(demo.agent.request('session/set_mode', { sessionId, modeId: 'nope' })).rejects.toThrow('unknown mode')
})
