import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentprotoError } from '@agentproto/contracts'
import type { AgentSignal, AgentSink } from '@agentproto/contracts/agent'
import { type AgentHost, SharedProcesses } from '@agentproto/driver-agent-cli'
import type { AgentEndpoint } from '@agentproto/manifest'
import { expect, onTestFinished, test } from 'vitest'
import { type RemoteAgent, startRemoteAgent } from '../../arms/acp/test/fixtures/remote-agent.ts'
import { reachEndpoint } from '../src/endpoint/reach-endpoint.ts'
import { launch, type Prepared, prepare, quiet } from './guarded-launch.ts'

const VALUE = 'tok-4711-build-server'
const HEADERS = { authorization: 'Bearer {secret:build-server}' }

interface World extends Prepared {
  readonly agent: RemoteAgent
  readonly consents: string[]
}

/** An agent that runs elsewhere, which the owner has consented to. */
async function world(more: Partial<AgentHost> = {}, metadata: object = {}): Promise<World> {
  const agent = await startRemoteAgent()
  const consents = [new URL(agent.url).host]
  const made = await prepare({}, { privateEndpoints: async () => consents, ...more })
  await made.host.secrets.set('build-server', { kind: 'opaque', value: VALUE }, { place: 'file' })
  const { manifest } = made.adapter
  if (manifest.protocol !== 'acp') throw new Error('It speaks ACP')
  const endpoint: AgentEndpoint = { url: agent.url, headers: HEADERS, secrets: ['build-server'] }
  const adapter = { ...made.adapter, manifest: { ...manifest, endpoint, metadata: { agentproto: metadata } } }
  return { ...made, adapter, agent, consents }
}

const sentBy = (agent: RemoteAgent): readonly unknown[] => agent.upgrades.map(({ headers }) => headers.authorization)

test('an agent that runs elsewhere is connected to, and nothing is launched for it', async () => {
  const made = await world()
  const agent = await launch(made)
  expect(agent.process).toBeUndefined()
  expect(agent.sandbox).toMatchObject({ enforced: false, reason: expect.stringContaining('runs elsewhere') })
  expect(agent.kept).toBe(false)
  expect(sentBy(made.agent)).toEqual([`Bearer ${VALUE}`])
  expect(made.agent.sent('initialize')).toMatchObject([{ params: { clientCapabilities: {} } }])
  expect(JSON.stringify(made.agent.sent('initialize'))).not.toMatch(/"(?:terminal|readTextFile|writeTextFile)":true/)
  await agent.stop()
  expect(made.agent.closed).toHaveLength(1)
})

test('a secret is filled in as it is at each start, and is in nothing that the host stores', async () => {
  const made = await world()
  await (await launch(made)).stop()
  await made.host.secrets.set('build-server', { kind: 'opaque', value: `other-${VALUE}` }, { place: 'file' })
  await (await launch(made)).stop()
  expect(sentBy(made.agent)).toEqual([`Bearer ${VALUE}`, `Bearer other-${VALUE}`])
  const stored = readdirSync(made.host.home).filter((name) => name !== 'secrets.json')
  expect(stored.map((name) => readFileSync(join(made.host.home, name), 'utf8')).join('')).not.toContain('4711')
})

test('a secret that the agent repeats is redacted in what it says', async () => {
  const made = await world()
  const said: AgentSignal[] = []
  const sink: AgentSink = { ...quiet, emit: (batch) => void said.push(...batch) }
  const agent = await launch(made, { sink })
  await agent.send([{ type: 'text', text: `echo it is ${VALUE}` }])
  expect(JSON.stringify(said)).toContain('echo it is [redacted]')
  expect(JSON.stringify(said)).not.toContain(VALUE)
})

test('the consent counts when it connects, and a refusal is said before anything is sent', async () => {
  const made = await world()
  made.consents.splice(0, 1, new URL(made.agent.url).host.replace(/\d+$/, '1'))
  await expect(launch(made)).rejects.toMatchObject({ code: 'endpoint_not_allowed' })
  const { privateEndpoints: _, ...host } = made.host
  await expect(launch({ ...made, host })).rejects.toMatchObject({ code: 'endpoint_not_allowed' })
  expect(made.agent.upgrades).toEqual([])
})

test('a missing secret is named, and nothing is connected to', async () => {
  const made = await world()
  await made.host.secrets.remove('build-server')
  await expect(launch(made)).rejects.toMatchObject({
    code: 'secret_not_found',
    parts: { hint: 'Set it: agentproto secrets set build-server' },
  })
  expect(made.agent.upgrades).toEqual([])
})

test.each(['a\r\nx-admin: yes', 'a\nb', 'tab\tb', 'ü-4711-4711'])(
  'the secret %j is sent in no header, and not shown',
  async (value) => {
    const made = await world()
    await made.host.secrets.set('build-server', { kind: 'opaque', value }, { place: 'file' })
    const thrown: unknown = await launch(made).catch((error: unknown) => error)
    expect(thrown).toMatchObject({ code: 'invalid_request', parts: { given: 'build-server' } })
    expect(JSON.stringify([String(thrown), thrown])).not.toContain(value)
    expect(made.agent.upgrades).toEqual([])
  },
)

test('a refusal of the agent says which secret it was, and not its value', async () => {
  const made = await world()
  made.agent.refuses = 401
  const thrown: unknown = await launch(made).catch((error: unknown) => error)
  expect(thrown).toMatchObject({ code: 'auth_required' })
  expect(JSON.stringify([String(thrown), thrown])).toContain('build-server')
  expect(JSON.stringify([String(thrown), thrown])).not.toContain(VALUE)
})

test('sessions share no connection, whatever the manifest says of processes', async () => {
  const made = await world({ sharedProcesses: new SharedProcesses() }, { process: 'shared' })
  const [first, second] = [await launch(made), await launch(made)]
  expect(made.agent.upgrades).toHaveLength(2)
  await first.stop()
  await second.stop()
})

test('no variable of this host reaches it', async () => {
  const made = await world()
  await launch(made, { env: { SESSION_KEY: 'key-4711' } })
  expect(JSON.stringify([made.agent.received, made.agent.upgrades.map(({ headers }) => headers)])).not.toMatch(
    /SESSION_KEY|key-4711/,
  )
})

test('a handshake alone opens no session and closes its connection', async () => {
  const made = await world()
  const { manifest } = made.adapter
  const endpoint = manifest.protocol === 'acp' ? manifest.endpoint : undefined
  if (endpoint === undefined) throw new Error('It has an endpoint')
  const controller = new AbortController()
  onTestFinished(() => controller.abort())
  const { info } = await reachEndpoint(endpoint, made.host, controller.signal)
  expect(info).toMatchObject({ name: 'remote', version: '1', capabilities: { load: true } })
  expect([made.agent.sent('session/new'), made.agent.closed.length]).toEqual([[], 1])
})

test('a secret that an agent repeats in a handshake that fails is in no part of the error', async () => {
  const made = await world()
  const send = made.agent.send.bind(made.agent)
  made.agent.send = (message) => send({ ...message, result: { protocolVersion: VALUE } })
  const endpoint: AgentEndpoint = { url: made.agent.url, headers: HEADERS, secrets: ['build-server'] }
  const failing = reachEndpoint(endpoint, made.host, new AbortController().signal)
  const thrown = await failing.catch((error: unknown) => error)
  expect(thrown).toMatchObject({ code: 'handshake_failed', parts: { given: '[redacted]' } })
  expect(String(thrown)).not.toContain(VALUE)
})

/** An agent with modes and stored sessions that has what it was sent in its headers in each of its answers. */
function repeats(agent: RemoteAgent, answer: (header: string) => object): void {
  const send = agent.send.bind(agent)
  const header = (): string => String(agent.upgrades.at(-1)?.headers.authorization)
  agent.send = (message) => {
    const { result, error } = message as { result?: { agentCapabilities?: object; sessionId?: string }; error?: object }
    if (error) return send({ id: message['id'], ...answer(header()) })
    if (result?.agentCapabilities) {
      const agentCapabilities = { loadSession: true, sessionCapabilities: { list: {}, close: {} } }
      return send({ ...message, result: { ...result, agentCapabilities } })
    }
    if (result?.sessionId === undefined) return send(message)
    const modes = { currentModeId: 'ask', availableModes: ['ask', 'code'].map((id) => ({ id, name: id })) }
    return send({ ...message, result: { ...result, modes } })
  }
}

test('a secret that an agent repeats when it refuses a call of its session is in no part of the error', async () => {
  const made = await world()
  repeats(made.agent, (header) => ({ error: { code: -32603, message: `not with ${header}`, data: { header } } }))
  const agent = await launch(made)
  for (const call of [() => agent.storedSessions?.(), () => agent.configure({ mode: 'code' })]) {
    const thrown: unknown = await Promise.resolve(call()).catch((error: unknown) => error)
    expect(thrown).toMatchObject({
      code: 'protocol_error',
      message: expect.stringContaining('not with Bearer [redacted]'),
    })
    const { message, stack, parts } = thrown as AgentprotoError
    expect(JSON.stringify([message, stack, { ...parts, cause: undefined }])).not.toContain(VALUE)
  }
  await agent.stop()
})

test('a secret that an agent repeats in its list of sessions is redacted', async () => {
  const made = await world()
  repeats(made.agent, (header) => ({ result: { sessions: [{ sessionId: 'old', title: `of ${header}` }] } }))
  const agent = await launch(made)
  expect(await agent.storedSessions?.()).toEqual([{ agentSessionId: 'old', title: 'of Bearer [redacted]' }])
  await agent.stop()
})
