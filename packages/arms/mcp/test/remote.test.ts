import { mcpArm } from '@agentproto/arm-mcp'
import type { McpProfileInput } from '@agentproto/arm-mcp'
import { launchOf, RecordingSink } from '@agentproto/arm-testing'
import { systemClock } from '@agentproto/contracts'
import { type AgentSignal, type ArmLimits, DEFAULT_ARM_LIMITS } from '@agentproto/contracts/agent'
import { expect, onTestFinished, test } from 'vitest'
import { startBridge } from './http-bridge.ts'
import type { BridgeOptions } from './http-bridge.ts'
import { profile as stdio } from './subject.ts'

interface Remote extends BridgeOptions {
  readonly transport: 'http' | 'sse'
  readonly data?: Record<string, unknown>
  readonly env?: Record<string, string>
  readonly limits?: Partial<ArmLimits>
}

async function connect({ transport, data = {}, env = {}, limits = {}, ...options }: Remote) {
  const bridge = await startBridge(options)
  const profile: McpProfileInput = {
    transport,
    url: `${bridge.url}/${transport === 'http' ? 'mcp' : 'sse'}`,
    data: { ...(stdio.data as object), ...data },
  }
  const connection = await mcpArm.connect({
    launch: { ...launchOf([], env), command: '' },
    limits: { ...DEFAULT_ARM_LIMITS, ...limits },
    clock: systemClock,
    signal: new AbortController().signal,
    client: { name: 'test', version: '0' },
    profile,
  })
  onTestFinished(async () => void (await connection.close()))
  return { bridge, connection }
}

async function open(remote: Remote) {
  const { bridge, connection } = await connect(remote)
  const sink = new RecordingSink()
  const opening = { cwd: process.cwd(), additionalDirectories: [], mcpServers: [], origin: { how: 'new' as const } }
  const session = await connection.openSession(opening, sink)
  const say = async (text: string): Promise<readonly AgentSignal[]> => {
    const from = sink.signals.length
    await session.send([{ type: 'text', text }])
    return sink.signals.slice(from)
  }
  return { bridge, connection, session, sink, say }
}

const typesOf = (signals: readonly AgentSignal[]): readonly string[] => signals.map(({ type }) => type)

for (const transport of ['http', 'sse'] as const) {
  test(`over ${transport}: two turns of one conversation, streamed`, async () => {
    const { say, sink, session, connection } = await open({ transport })
    expect(connection.info).toMatchObject({ name: 'fixture', version: '1.2.3' })
    expect(connection.process).toBeUndefined()
    expect(typesOf(await say('stream 3'))).toEqual(['text-delta', 'text-delta', 'text-delta', 'turn-end'])
    await say('remember')
    expect(sink.text).toContain('stream 3|remember')
    expect(session.agentSessionId).toBe('thread-1')
  })

  test(`over ${transport}: a permission is asked and answered`, async () => {
    const { say, sink } = await open({ transport })
    sink.onAsk = async () => ({ outcome: 'selected', optionId: 'yes' })
    await say('ask')
    expect(sink.text).toBe('answer yes')
  })

  test(`over ${transport}: a cancel reaches the call, and the turn ends`, async () => {
    const { session, sink, say } = await open({ transport })
    const sent = session.send([{ type: 'text', text: 'hang' }])
    await sink.until(() => sink.text.includes('working'))
    await session.cancel()
    await sent
    expect(sink.signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'cancelled' })
    await say('echo next')
    expect(sink.text).toContain('echo next')
  })

  test(`over ${transport}: a flood waits for its host`, async () => {
    const { session, sink } = await open({ transport })
    let release = (): void => {}
    const busy = new Promise<void>((resolve) => (release = resolve))
    sink.onBatch = () => busy
    const sent = session.send([{ type: 'text', text: 'stream 20000' }])
    await sink.until(() => sink.signals.length > 0)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(sink.signals.length).toBeLessThan(10_000)
    release()
    await sent
    expect(sink.text.endsWith('19999 ')).toBe(true)
  })

  test(`over ${transport}: a connection that breaks in the middle of a turn ends it with an error`, async () => {
    const { session, sink, bridge } = await open({ transport })
    const sent = session.send([{ type: 'text', text: 'hang' }])
    await sink.until(() => sink.text.includes('working'))
    bridge.breakAll()
    await sent
    expect(typesOf(sink.signals).slice(-2)).toEqual(['error', 'turn-end'])
  })

  test(`over ${transport}: a required login is reported, and a token of the environment is sent`, async () => {
    await expect(connect({ transport, token: 'abc' })).rejects.toMatchObject({ code: 'auth_required' })
    const headers = { Authorization: 'Bearer {ACCESS}' }
    const { say } = await open({ transport, token: 'abc', data: { headers }, env: { ACCESS: 'abc' } })
    expect(typesOf(await say('echo hi'))).toEqual(['text-delta', 'turn-end'])
  })

  test(`over ${transport}: a server that never answers is given up within the limit`, async () => {
    const limits = { handshakeMs: 200, openMs: 200 }
    await expect(connect({ transport, start: 'silent', limits })).rejects.toMatchObject({ code: 'timeout' })
  })

  test(`over ${transport}: a URL without a server is a failed handshake`, async () => {
    const bridge = await startBridge()
    const url = bridge.url.replace(/:\d+$/, ':9')
    const connecting = mcpArm.connect({
      launch: launchOf([]),
      limits: DEFAULT_ARM_LIMITS,
      clock: systemClock,
      signal: new AbortController().signal,
      client: { name: 'test', version: '0' },
      profile: { transport, url: `${url}/mcp` },
    })
    await expect(connecting).rejects.toMatchObject({ code: 'handshake_failed' })
  })
}

test('F31 an SSE stream that breaks is the end of its connection', async () => {
  const { connection, bridge } = await open({ transport: 'sse' })
  bridge.breakAll()
  expect(await connection.ended).toMatchObject({ duringTurn: false, cause: 'transport' })
})

test('closing terminates the session on the server', async () => {
  const { connection, bridge } = await open({ transport: 'http' })
  await connection.close()
  expect(bridge.requests.map(({ method }) => method)).toContain('DELETE')
  await expect.poll(() => bridge.agents.map(({ signalCode }) => signalCode)).toEqual(['SIGKILL'])
})

test('a profile without a URL is a wrong manifest', async () => {
  await expect(connect({ transport: 'http', data: { dance: 1 } })).rejects.toMatchObject({ code: 'manifest_invalid' })
})
