import { join } from 'node:path'
import { fixtureAgentPath } from '@agentproto/arm-testing'
import { catalogPath } from '@agentproto/adapters'
import { defineAgentCli, loadAgentCli } from '@agentproto/driver-agent-cli'
import type { AgentCliHandle, StreamEvent } from '@agentproto/driver-agent-cli'
import type { AgentCliDocument } from '@agentproto/manifest'
import { expect, onTestFinished, test } from 'vitest'
import { document, host, say, textOf } from './small-agent.ts'

/** A manifest of the fixture agent, which is an MCP server. */
function fixture(more: Partial<AgentCliDocument> = {}): AgentCliHandle {
  const { acp: _, models: __, ...rest } = document
  const source: AgentCliDocument = {
    ...rest,
    protocol: 'mcp',
    mcp: { transport: 'stdio' },
    bin: 'fixture',
    bin_args: ['mcp', 'well'],
    metadata: { agentproto: { mcp: { events: [EVENTS] } } },
    ...more,
  }
  return defineAgentCli(source, { ...host, executables: { fixture: fixtureAgentPath, other: fixtureAgentPath } })
}

const EVENTS = {
  method: 'fixture/event',
  kind: 'event.said',
  call: 'call',
  map: { say: { event: 'text-delta', text: 'event.text' } },
}

async function start(handle: AgentCliHandle, options = {}) {
  const session = await handle.start(options)
  onTestFinished(async () => void (await session.close()))
  return session
}

test('an agent that is an MCP server streams two turns of one conversation', async () => {
  const session = await start(fixture())
  expect(session.agentSessionId).toBe('')
  expect(session.info).toMatchObject({ name: 'fixture', version: '1.2.3' })
  const events = await say(session, 'stream 3')
  expect(events.map((event: StreamEvent) => event.type)).toEqual(['text-delta', 'text-delta', 'text-delta', 'turn-end'])
  expect(session.agentSessionId).toBe('thread-1')
  expect(textOf(await say(session, 'remember'))).toBe('stream 3|remember')
})

test('a mode’s arguments follow those of the manifest, also where `mcp` states a command of its own', async () => {
  const plain = await start(fixture(), { mode: 'plan' })
  expect(JSON.parse(textOf(await say(plain, 'place')))).toMatchObject({ argv: ['mcp', 'well', '--plan'] })
  const own = await start(fixture({ mcp: { transport: 'stdio', command: 'other', args: ['mcp', 'noisy'] } }), {
    mode: 'plan',
  })
  expect(JSON.parse(textOf(await say(own, 'place')))).toMatchObject({ argv: ['mcp', 'noisy', '--plan'] })
})

test('an agent that is not installed is named by the executable that is missing', async () => {
  const goose = fixture({
    name: 'goose',
    id: 'goose',
    bin: 'goose',
    bin_args: [],
    mcp: { transport: 'stdio', command: 'goose', args: ['mcp'] },
  })
  await expect(goose.start()).rejects.toMatchObject({
    code: 'agent_not_installed',
    message: expect.stringContaining('The executable goose of goose is not found'),
  })
})

test('hints that are wrong are a wrong manifest, and nothing is started', async () => {
  const handle = fixture({
    metadata: { agentproto: { mcp: { events: [{ method: 'x', map: { y: { event: 'dance' } } }] } } },
  })
  await expect(handle.start()).rejects.toMatchObject({
    code: 'manifest_invalid',
    message: expect.stringContaining('events.0.map.y'),
  })
})

test('a session that the manifest does not call resumable is not resumed', async () => {
  const origin = { how: 'resume' as const, agentSessionId: 'thread-7' }
  await expect(fixture().start({ origin })).rejects.toMatchObject({ code: 'not_resumable' })
  const session = await start(fixture({ capabilities: { resumable: true } }), { origin })
  expect(session.agentSessionId).toBe('thread-7')
  expect(textOf(await say(session, 'remember'))).toBe('remember')
})

test('Goose’s manifest is valid, and where Goose is not installed its start says so and how to install it', async () => {
  const goose = await loadAgentCli(join(catalogPath, 'goose'), {
    env: { PATH: '/no/such/folder' },
    home: '/no/such/home',
  })
  expect(goose.manifest).toMatchObject({ protocol: 'mcp', bin: 'goose' })
  const failure = await goose.start().catch((thrown: unknown) => thrown)
  expect(failure).toMatchObject({ code: 'agent_not_installed', message: expect.stringContaining('goose') })
})
