import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { connectDemoAgent, saidText, startDemoClient, talk } from './demo-client.js'

test('recall returns the texts of the earlier turns', async () => {
  const demo = await startDemoClient()
  expect(await demo.say('recall')).toBe('There was nothing before.')
  await demo.prompt('my name is Ada')
  expect(await demo.say('recall')).toBe('1: recall\n2: my name is Ada')
})

test('two sessions of one process share no memory', async () => {
  const demo = await startDemoClient()
  const { sessionId } = await demo.agent.request('session/new', { cwd: demo.cwd, mcpServers: [] })
  await demo.prompt('first')
  expect(await talk(demo, sessionId).say('recall')).toBe('There was nothing before.')
})

test('load replays the history before it answers, and the memory is there', async () => {
  const first = await startDemoClient()
  await first.prompt('write a.txt; think; hello')
  first.child.stdin?.end()
  expect(await first.exited).toBe(0)

  const second = await connectDemoAgent({ home: first.home, cwd: first.cwd })
  const { sessionId, cwd } = first
  const loaded = await second.agent.request('session/load', { sessionId, cwd, mcpServers: [] })
  expect(loaded).toMatchObject({ modes: { currentModeId: 'default' } })
  expect(second.updates.map((update) => update.sessionUpdate)).toEqual([
    'user_message_chunk',
    'tool_call',
    'agent_message_chunk',
    'agent_thought_chunk',
    'agent_message_chunk',
  ])
  expect(saidText(second.updates)).toContain('echo: hello')
  expect(await talk(second, sessionId).say('recall')).toBe('1: write a.txt; think; hello')
})

test('resume keeps memory, mode and model, and replays nothing', async () => {
  const first = await startDemoClient({ args: ['--mode', 'plan', '--model', 'demo-2'] })
  await first.prompt('remember me')
  first.child.kill('SIGTERM')
  expect(await first.exited).toBe(143)

  const second = await connectDemoAgent({ home: first.home })
  const { sessionId, cwd } = first
  const resumed = await second.agent.request('session/resume', { sessionId, cwd, mcpServers: [] })
  expect(second.updates).toEqual([])
  expect(resumed.configOptions).toMatchObject([{ currentValue: 'plan' }, { currentValue: 'demo-2' }])
  expect(await talk(second, sessionId).say('recall')).toBe('1: remember me')
})

test('a turn survives SIGKILL soon after its answer', async () => {
  const first = await startDemoClient()
  await first.prompt('remember me')
  const file = join(first.home, 'sessions', `${first.sessionId}.json`)
  await expect.poll(() => statSync(file, { throwIfNoEntry: false })?.size ?? 0).toBeGreaterThan(250)
  first.child.kill('SIGKILL')
  await first.exited

  const second = await connectDemoAgent({ home: first.home })
  const { sessionId, cwd } = first
  await second.agent.request('session/resume', { sessionId, cwd, mcpServers: [] })
  expect(await talk(second, sessionId).say('recall')).toBe('1: remember me')
})

test('list returns the sessions of a folder, newest first', async () => {
  const demo = await startDemoClient()
  await demo.prompt('a title')
  const { sessions } = await demo.agent.request('session/list', { cwd: demo.cwd })
  expect(sessions).toMatchObject([{ sessionId: demo.sessionId, cwd: demo.cwd, title: 'a title' }])
  expect(await demo.agent.request('session/list', { cwd: '/elsewhere' })).toEqual({ sessions: [] })
})

test('a closed session takes no prompt until it is resumed', async () => {
  const demo = await startDemoClient()
  const { sessionId, cwd } = demo
  await demo.prompt('before')
  await demo.agent.request('session/close', { sessionId })
  await expect(demo.prompt('after')).rejects.toMatchObject({ code: -32002, data: { sessionId } })
  await demo.agent.request('session/resume', { sessionId, cwd, mcpServers: [] })
  expect(await demo.say('recall')).toBe('1: before')
})

test('an unknown, malformed or unreadable session is not found', async () => {
  const demo = await startDemoClient()
  await demo.agent.request('session/list', {})
  const broken = 'demo-00000000-0000-0000-0000-000000000000'
  writeFileSync(join(demo.home, 'sessions', `${broken}.json`), '{"version":')
  for (const sessionId of [broken, 'demo-unknown', '../../etc/passwd']) {
    const params = { sessionId, cwd: demo.cwd, mcpServers: [] }
    await expect(demo.agent.request('session/load', params)).rejects.toMatchObject({ code: -32002 })
  }
})

test('the files are for their owner only, and no temporary one is left', async () => {
  const demo = await startDemoClient()
  await demo.prompt('secret')
  await demo.agent.request('session/list', {})
  const folder = join(demo.home, 'sessions')
  expect(readdirSync(folder)).toEqual([`${demo.sessionId}.json`])
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(statSync(join(folder, `${demo.sessionId}.json`)).mode & 0o777).toBe(0o600)
})

test('the store keeps the 200 sessions that were used last', async () => {
  const demo = await startDemoClient()
  await demo.agent.request('session/list', {})
  const folder = join(demo.home, 'sessions')
  for (let i = 0; i < 230; i++) {
    writeFileSync(join(folder, `demo-00000000-0000-0000-0000-${String(i).padStart(12, '0')}.json`), '{}')
  }
  const { sessionId } = await demo.agent.request('session/new', { cwd: demo.cwd, mcpServers: [] })
  await demo.agent.request('session/list', {})
  expect(readdirSync(folder)).toHaveLength(200)
  expect(readdirSync(folder)).toContain(`${sessionId}.json`)
})
