import { AgentprotoError, type AgentAnswer } from '@agentproto/contracts'
import {
  type AdoptedAgent,
  type AgentCliClient,
  type AgentCliEvent,
  type AgentKeeper,
  type AgentSignal,
  type AgentSink,
  EventQueue,
} from '@agentproto/contracts/agent'
import {
  adoptAgent,
  defineAgentCli,
  launchAgent,
  type LaunchOptions,
  SharedProcesses,
} from '@agentproto/driver-agent-cli'
import { createRedactor } from '@agentproto/secrets'
import { endProcesses, identify } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { type Controller, MemoryKeeper } from '../../../tooling/memory-keeper.ts'
import { startBridge } from '../../arms/mcp/test/http-bridge.ts'
import { launchOptions, prepare, type Prepared, quiet } from './guarded-launch.ts'
import { document } from './small-agent.ts'

const ASK = [{ type: 'text', text: 'ask' }] as const
const ALLOW: AgentAnswer = { outcome: 'selected', optionId: 'ok' }

interface Sink extends AgentSink {
  readonly signals: AgentSignal[]
  readonly asked: ((answer: AgentAnswer) => void)[]
}

/** A sink that stores what it gets, and whose requests wait. */
function storing(before = 0): Sink {
  const signals: AgentSignal[] = []
  const asked: ((answer: AgentAnswer) => void)[] = []
  return {
    signals,
    asked,
    emit: async (batch) => void signals.push(...batch),
    ask: () => new Promise((resolve) => asked.push(resolve)),
    mark: () => before + signals.length,
  }
}

const launching = (on: Prepared, sink: AgentSink, sessionId: string): LaunchOptions =>
  launchOptions(on, { sink, sessionId })

/** A keeper whose controllers can be killed with their host. */
class Watched implements AgentKeeper {
  readonly #inner = new MemoryKeeper()
  readonly controllers: Controller[] = []

  async spawn(...args: Parameters<AgentKeeper['spawn']>): Promise<Controller> {
    return this.#watch(await this.#inner.spawn(...args))
  }

  async adopt(key: string): Promise<Controller | undefined> {
    const controller = await this.#inner.adopt(key)
    return controller && this.#watch(controller)
  }

  killHost(): void {
    this.controllers.at(-1)?.kill()
  }

  #watch(controller: Controller): Controller {
    this.controllers.push(controller)
    return controller
  }
}

async function adopted(on: Prepared, sink: AgentSink, sessionId: string): Promise<AdoptedAgent> {
  const agent = await adoptAgent(on.adapter.manifest, launching(on, sink, sessionId))
  if (!agent) throw new Error('nothing is kept')
  onTestFinished(async () => void (await agent.stop()))
  return agent
}

const id = (): string => `s-${crypto.randomUUID()}`

test('16.a4 an agent whose host is killed in the middle of a permission goes on with the next host, twice', async () => {
  const keeper = new Watched()
  const on = await prepare({}, { keeper })
  const sessionId = id()
  const first = storing()
  const agent = await launchAgent(on.adapter.manifest, launching(on, first, sessionId))
  expect(agent.kept).toBe(true)
  expect(agent.warnings).toEqual([])
  void agent.send(ASK)
  await expect.poll(() => first.asked.length).toBe(1)
  keeper.killHost()
  const middle = await adopted(on, storing(), sessionId)
  expect(middle.begin()?.cancelling).toBe(false)
  keeper.killHost()
  const last = storing()
  const next = await adopted(on, last, sessionId)
  expect(next.process).toEqual(agent.process)
  expect([next.agentSessionId, next.info, next.sandbox]).toEqual([agent.agentSessionId, agent.info, agent.sandbox])
  expect(next.mark).toBe(0)
  const turn = next.begin()
  await expect.poll(() => last.asked.length).toBe(1)
  last.asked[0]?.(ALLOW)
  await turn?.done
  expect(last.signals.at(-1)).toEqual({ type: 'turn-end', reason: 'end_turn' })
  expect(JSON.stringify(last.signals)).toContain('ok')
  await next.send([{ type: 'text', text: 'plan' }])
  await next.stop()
  expect(await keeper.adopt(sessionId)).toBeUndefined()
})

test('16.a4 the secrets of an adopted agent are redacted', async () => {
  const keeper = new Watched()
  const on = await prepare({ auth: { ref: './SECRETS.md' } }, { keeper })
  await on.host.secrets.set('acme/token', { kind: 'opaque', value: 'a-very-long-value' })
  const sessionId = id()
  await launchAgent(on.adapter.manifest, launching(on, storing(), sessionId))
  keeper.killHost()
  const sink = storing()
  // The next host has learned nothing yet.
  const redactor = createRedactor()
  const next = await adopted({ ...on, host: { ...on.host, redactor } }, sink, sessionId)
  next.begin()
  await next.send([{ type: 'text', text: 'start' }])
  expect(JSON.stringify(sink.signals)).not.toMatch(/passed secret|declared secret|a-very-long-value/)
  expect(JSON.stringify(sink.signals)).toContain('[redacted]')
})

test('16.a4 nothing is adopted where nothing is kept; garbage in the facts leaves the agent as it is', async () => {
  const keeper = new Watched()
  const on = await prepare({}, { keeper })
  expect(await adoptAgent(on.adapter.manifest, launching(on, quiet, id()))).toBeUndefined()
  const sessionId = id()
  const { process } = await launchAgent(on.adapter.manifest, launching(on, storing(), sessionId))
  onTestFinished(() => endProcesses(process ? [process] : [], { termGraceMs: 300 }))
  for (const facts of ['', 'garbage', '{"version":1,"mark":0,"host":{},"arm":{}}', '{"version":2}']) {
    const controller = await keeper.adopt(sessionId)
    if (!controller) throw new Error('nothing is kept')
    const { stdin, stdout, stderr } = controller.kept
    await controller.acknowledge({ stdin: stdin.first, stdout: stdout.first, stderr: stderr.first }, facts, false)
    await expect(adoptAgent(on.adapter.manifest, launching(on, quiet, sessionId))).rejects.toMatchObject({
      code: 'not_adoptable',
    })
  }
  expect(identify(process?.pid ?? 0)).toEqual(process)
})

test('16.a4 an agent that cannot be kept is started as before, with a warning that says why', async () => {
  const unreachable: AgentKeeper = {
    spawn: () => Promise.reject(new AgentprotoError('keeper_unavailable', 'no keeper')),
    adopt: () => Promise.reject(new AgentprotoError('keeper_unavailable', 'no keeper')),
  }
  const one = await prepare({}, { keeper: unreachable })
  const agent = await launchAgent(one.adapter.manifest, launching(one, quiet, id()))
  expect(agent.kept).toBe(false)
  expect(agent.warnings).toEqual(['The agent ends with its gateway: its keeper cannot be reached. no keeper.'])
  await agent.stop()
  const shared = { keeper: unreachable, sharedProcesses: new SharedProcesses() }
  const two = await prepare({ metadata: { agentproto: { process: 'shared' } } }, shared)
  const other = await launchAgent(two.adapter.manifest, launching(two, quiet, id()))
  expect([other.kept, other.warnings]).toEqual([false, agent.warnings])
  const joins = { ...two, host: { ...two.host, keeper: new MemoryKeeper() } }
  const third = await launchAgent(two.adapter.manifest, launching(joins, quiet, id()))
  expect([third.kept, third.process]).toEqual([false, other.process])
  expect(third.warnings).toEqual([
    'The agent ends with its gateway: it shares a process that was started without its keeper.',
  ])
  await Promise.all([other.stop(), third.stop()])
})

test('16.a4 a server behind a URL has no process that could be kept, and a warning says so', async () => {
  const { url } = await startBridge()
  const { acp: _, ...remote } = { ...document, protocol: 'mcp', mcp: { transport: 'http', url: `${url}/mcp` } } as const
  const on = await prepare({}, { keeper: new MemoryKeeper() })
  const { manifest } = defineAgentCli(remote, on.host)
  const agent = await launchAgent(manifest, launching(on, quiet, id()))
  onTestFinished(async () => void (await agent.stop()))
  expect(agent.kept).toBe(false)
  expect(agent.warnings).toEqual([
    'The agent ends with its gateway: it is behind a URL, and the gateway holds the connection.',
  ])
})

test('16.3 an adapter package without `reattach` ends with its gateway, and a warning says so', async () => {
  const on = await prepare({}, { keeper: new MemoryKeeper() })
  const plain: AgentCliClient = {
    connect: async () => {},
    send: async () => {},
    events: () => new EventQueue<AgentCliEvent>(),
    cancel: async () => {},
    close: async () => {},
  }
  const { acp: _, ...rest } = { ...document, protocol: 'proprietary', adapter: '@x/small' } as const
  const { manifest } = defineAgentCli(rest, on.host)
  const launchWith = async (client: AgentCliClient) => {
    const proprietary = { '@x/small': { version: '1.0.0', module: async () => ({ default: client }) } }
    const agent = await launchAgent(manifest, launching({ ...on, host: { ...on.host, proprietary } }, quiet, id()))
    onTestFinished(async () => void (await agent.stop()))
    return [agent.kept, agent.warnings]
  }
  expect(await launchWith(plain)).toEqual([
    false,
    ['The agent ends with its gateway: its adapter package cannot go on with an agent of another gateway.'],
  ])
  const reattach = async () => ({ caughtUp: Promise.resolve() })
  expect(await launchWith({ ...plain, reattach })).toEqual([true, []])
})
