import type { Stream } from '@agentclientprotocol/sdk'
import { expect, test } from 'vitest'
import { httpStream, networkClient, socketStream, socketUrl, testEndpoint } from './network-client.ts'
import type { TestEndpoint } from './network-client.ts'
import { greeted, request, until } from './wire.ts'

// ACP over the network, spoken to by the SDK's own clients.

const WIRES: readonly (readonly [string, (under: TestEndpoint) => Promise<Stream>])[] = [
  ['HTTP', async (under) => httpStream(under)],
  ['WebSocket', async (under) => socketStream(await socketUrl(under))],
]

test.each(WIRES)(
  'over %s: two turns, a permission, a cancel, modes, a list, a load, a fork and a delete',
  async (_, wire) => {
    const under = testEndpoint()
    const { sessions, printed } = under
    const { agent, updates, asked } = await networkClient(await wire(under))
    const { sessionId } = await agent.request('session/new', { cwd: '/work', mcpServers: [] })
    const turn = agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'one' }] })
    await until(() => sessions.the(sessionId).turn === 1)
    sessions.the(sessionId).says({ type: 'text-delta', text: 'hello' })
    sessions.the(sessionId).asks('r1', {
      kind: 'permission',
      toolCall: { type: 'tool-call', toolCallId: 'c1', title: 'Write' },
      options: [{ optionId: 'yes', name: 'Allow', kind: 'allow_once' }],
    } as never)
    await until(() => asked.length === 1)
    asked[0]?.answer({ outcome: { outcome: 'selected', optionId: 'yes' } })
    await until(() => sessions.the(sessionId).requests[0]?.state === 'resolved')
    sessions.the(sessionId).ends('end_turn')
    expect(await turn).toEqual({ stopReason: 'end_turn' })
    const second = agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'two' }] })
    await until(() => sessions.the(sessionId).turn === 2)
    await agent.notify('session/cancel', { sessionId })
    expect(await second).toEqual({ stopReason: 'cancelled' })
    expect(updates.map(({ update }) => update)).toMatchObject([
      { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'hello' } },
    ])
    const { sessions: listed } = await agent.request('session/list', {})
    expect(listed.map((each) => each.sessionId)).toEqual([sessionId])
    await agent.request('session/set_mode', { sessionId, modeId: 'plan' })
    updates.splice(0)
    await agent.request('session/load', { sessionId, cwd: '/work', mcpServers: [] })
    await until(() => updates.length >= 3)
    expect(updates.map(({ update }) => update.sessionUpdate)).toEqual(
      ['user_message_chunk', 'agent_message_chunk', 'user_message_chunk', 'current_mode_update'].slice(
        0,
        updates.length,
      ),
    )
    await agent.request('session/close', { sessionId })
    await agent.request('session/delete', { sessionId })
    expect(sessions.sessions.size).toBe(0)
    expect(printed).toEqual([])
  },
)

test('the updates of the next turn, read together with the end of this one, do not overtake the answer to its prompt', async () => {
  const under = testEndpoint()
  const { messages, say } = await greeted(await socketUrl(under))
  const session = under.sessions.add('s1')
  say(request(1, 'session/resume', { sessionId: 's1', cwd: '/', mcpServers: [] }))
  await until(() => messages.some(({ id }) => id === 1))
  say(request(2, 'session/prompt', { sessionId: 's1', prompt: [{ type: 'text', text: 'mine' }] }))
  await until(() => session.turn === 1)
  session.ends('end_turn')
  session.begins([{ type: 'text', text: 'of another client' }])
  await until(() => messages.length === 4)
  expect(messages.slice(2)).toMatchObject([{ id: 2 }, { method: 'session/update' }])
})
