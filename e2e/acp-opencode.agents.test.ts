import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { overOneStream } from './support/acp-one-stream.js'
import { NETWORK_WIRES, overNetwork } from './support/acp-wires.js'
import { startOpenCodeGateway } from './support/opencode.js'
import { startRelay } from './support/tcp-relay.js'

// A real agent behind `/acp/opencode`, driven by the clients of the SDK and by acp-http-client.

const until = (condition: () => unknown): Promise<void> =>
  vi.waitFor(async () => expect(await condition()).toBeTruthy(), { timeout: 60_000, interval: 20 })

const path = '/acp/opencode'

const slow = (said: string): number[] => [...said.matchAll(/slow-(\d+)/g)].map(([, number]) => Number(number))

test.each(NETWORK_WIRES)(
  'OpenCode over %s: two turns, a permission, a cancel, and a connection that is cut in mid-turn',
  needs('opencode'),
  async (wire) => {
    const gateway = await startOpenCodeGateway()
    const relay = await startRelay(gateway.url)
    const place = { ...gateway, url: relay.url, path }
    const user = await overNetwork(wire, place)
    const { cwd } = gateway
    const { sessionId } = await user.agent.request('session/new', { cwd, mcpServers: [] })
    expect(await user.prompt(sessionId, 'my number is 4711')).toEqual({ stopReason: 'end_turn' })
    expect(await user.prompt(sessionId, 'RECALL')).toEqual({ stopReason: 'end_turn' })
    expect(user.said()).toContain('RECALL:my number is 4711')

    const asking = user.prompt(sessionId, 'WRITE hello.txt')
    await until(() => user.dialogs.length === 1)
    const options = user.dialogs[0]?.params['options'] as { readonly optionId: string; readonly kind: string }[]
    const { optionId } = options.find(({ kind }) => kind === 'allow_once') ?? {}
    user.dialogs[0]?.answer({ outcome: { outcome: 'selected', optionId } })
    expect(await asking).toEqual({ stopReason: 'end_turn' })
    expect(readFileSync(join(cwd, 'hello.txt'), 'utf8')).toBe('mock wrote hello.txt\n')

    const cancelled = user.prompt(sessionId, 'SLOW 500')
    await until(() => slow(user.said()).length > 1)
    await user.agent.notify('session/cancel', { sessionId })
    expect(await cancelled).toEqual({ stopReason: 'cancelled' })

    const before = slow(user.said()).length
    const lost = user.prompt(sessionId, 'SLOW 20').catch(() => 'gone')
    await until(() => slow(user.said()).length > before)
    relay.cut()
    expect(await lost).toBe('gone')
    const again = await overNetwork(wire, place)
    await again.agent.request('session/load', { sessionId, cwd, mcpServers: [] })
    await gateway.client.sessions.waitTurn(sessionId, 5)
    expect(await again.prompt(sessionId, 'hello')).toEqual({ stopReason: 'end_turn' })
    // The last turn but one, from its first word to its last.
    const numbers = slow(again.said())
    expect(numbers.slice(-300)).toEqual(Array.from({ length: 300 }, (_, at) => at + 1))
  },
)

test('OpenCode by acp-http-client: two turns, a permission and a cancel', needs('opencode'), async () => {
  const gateway = await startOpenCodeGateway()
  const { cwd } = gateway
  const user = await overOneStream({ ...gateway, path }, { answer: 'allow_once' })
  const { sessionId } = await user.client.newSession({ cwd, mcpServers: [] })
  expect(await user.prompt(sessionId, 'my number is 4711')).toEqual({ stopReason: 'end_turn' })
  expect(await user.prompt(sessionId, 'RECALL')).toEqual({ stopReason: 'end_turn' })
  expect(user.said()).toContain('RECALL:my number is 4711')
  expect(await user.prompt(sessionId, 'WRITE hello.txt')).toEqual({ stopReason: 'end_turn' })
  expect(readFileSync(join(cwd, 'hello.txt'), 'utf8')).toBe('mock wrote hello.txt\n')
  const cancelled = user.prompt(sessionId, 'SLOW 500')
  await until(() => slow(user.said()).length > 1)
  await user.client.cancel({ sessionId })
  expect(await cancelled).toEqual({ stopReason: 'cancelled' })
})
