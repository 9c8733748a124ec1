import { acpArm, type AcpArmProfile, type EndpointAccess } from '@agentproto/acp'
import { systemClock, type Clock } from '@agentproto/contracts'
import {
  type AgentSignal,
  type ArmConnection,
  type ArmConnectOptions,
  type ArmLimits,
  type ArmSession,
  DEFAULT_ARM_LIMITS,
  type OpenSessionOptions,
} from '@agentproto/contracts/agent'
import { RecordingSink } from '@agentproto/arm-testing'
import { expect, onTestFinished, test } from 'vitest'
import { type RemoteAgent, type RemoteAgentOptions, startRemoteAgent } from './fixtures/remote-agent.ts'

const opening = {
  cwd: '/work',
  additionalDirectories: [],
  mcpServers: [],
  origin: { how: 'new' },
} as const satisfies OpenSessionOptions

interface Connect {
  readonly url: string
  readonly access?: () => Promise<EndpointAccess>
  readonly limits?: Partial<ArmLimits>
  readonly clock?: Clock
  readonly signal?: AbortSignal
  readonly secrets?: readonly string[]
}

const optionsOf = ({ url, access, limits, clock = systemClock, signal, secrets }: Connect): ArmConnectOptions => ({
  launch: { command: '', args: [], cwd: '/work', env: {}, marker: 'remote' },
  limits: { ...DEFAULT_ARM_LIMITS, ...limits },
  clock,
  signal: signal ?? new AbortController().signal,
  client: { name: 'test', version: '0' },
  profile: {
    endpoint: { url, connect: access ?? (async () => ({ headers: {} })), ...(secrets ? { secrets } : {}) },
  } satisfies AcpArmProfile,
})

async function connect(options: Connect): Promise<ArmConnection> {
  const connection = await acpArm.connect(optionsOf(options))
  onTestFinished(async () => void (await connection.close()))
  return connection
}

interface Opened {
  readonly agent: RemoteAgent
  readonly connection: ArmConnection
  readonly session: ArmSession
  readonly sink: RecordingSink
  say(text: string): Promise<readonly AgentSignal[]>
}

async function open(options: RemoteAgentOptions & Omit<Connect, 'url'> = {}): Promise<Opened> {
  const agent = await startRemoteAgent(options)
  const connection = await connect({ ...options, url: agent.url })
  const sink = new RecordingSink()
  const session = await connection.openSession(opening, sink)
  const say = async (text: string): Promise<readonly AgentSignal[]> => {
    const from = sink.signals.length
    await session.send([{ type: 'text', text }])
    return sink.signals.slice(from)
  }
  return { agent, connection, session, sink, say }
}

const textOf = (signals: readonly AgentSignal[]): string =>
  signals.map((signal) => (signal.type === 'text-delta' ? signal.text : '')).join('')

for (const numbered of [true, false]) {
  const what = numbered ? 'a gateway' : 'an agent'

  test(`${what} behind a WebSocket answers two turns, and has no process`, async () => {
    const { say, connection, agent } = await open({ numbered })
    expect(connection.process).toBeUndefined()
    expect(connection.info).toMatchObject({ name: 'remote', version: '1' })
    expect(textOf(await say('echo one'))).toBe('echo one')
    expect(textOf(await say('echo two'))).toBe('echo two')
    const [hello] = agent.sent('initialize')
    expect(hello).toMatchObject({
      params: {
        clientCapabilities: {
          fs: { readTextFile: false, writeTextFile: false },
          terminal: false,
          _meta: { agentproto: { events: true } },
        },
      },
    })
  })
}

for (const word of ['drop-running', 'drop-ended', 'drop-answer', 'drop-tool', 'drop-twice']) {
  test(`${word}: a turn of a gateway goes on over a lost connection, nothing missing and nothing twice`, async () => {
    const { say, sink, agent } = await open({ numbered: true })
    const signals = await say(word)
    expect(textOf(signals)).toBe(
      {
        'drop-running': 'one two three',
        'drop-ended': 'one two',
        'drop-answer': 'all of it',
        'drop-tool': 'one two',
        'drop-twice': 'one two three four five',
      }[word],
    )
    expect(signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'end_turn' })
    expect(signals.filter(({ type }) => type === 'tool-result')).toHaveLength(word === 'drop-tool' ? 1 : 0)
    expect(agent.sent('session/prompt')).toHaveLength(1)
    expect(
      sink
        .ofType('notice')
        .map(({ severity }) => severity)
        .slice(0, 2),
    ).toEqual(['warning', 'info'])
    expect(textOf(await say('echo next'))).toBe('echo next')
  })
}
