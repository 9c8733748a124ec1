import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { AdoptedAgent, RunningAgent } from '@agentproto/contracts/agent'
import { adoptAgent, type AgentHost, launchAgent, type LaunchOptions } from '@agentproto/driver-agent-cli'
import { AgentprotoError } from '@agentproto/contracts'
import { endProcesses, findMarkedProcesses, identify } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { MemoryKeeper } from '../../../tooling/memory-keeper.ts'
import { needs } from '../../../tooling/needs.ts'
import { launchOptions, prepare, type Prepared, quiet } from './guarded-launch.ts'

const MOUNTS = [{ source: 'workspace', at: '/workspace', mode: 'read-write' }] as const
const NETWORK = { egress: ['example.test'], ingress: [] }

const launching = (on: Prepared, sandbox: object = { mounts: MOUNTS, network: NETWORK }): LaunchOptions =>
  launchOptions(on, {
    sink: { ...quiet, mark: () => 0 },
    sessionId: `s-${crypto.randomUUID()}`,
    adapter: { ...on.adapter, sandbox: { ...on.adapter.sandbox, ...sandbox } },
  })

async function launched(on: Prepared, options: LaunchOptions): Promise<RunningAgent> {
  const agent = await launchAgent(on.adapter.manifest, options)
  onTestFinished(() => endProcesses(agent.process ? [agent.process] : [], { termGraceMs: 300 }))
  return agent
}

async function adopted(on: Prepared, options: LaunchOptions): Promise<AdoptedAgent> {
  const agent = await adoptAgent(on.adapter.manifest, options)
  if (!agent) throw new Error('nothing is kept')
  onTestFinished(async () => void (await agent.stop()))
  return agent
}

/** The next host of the same home: it shares nothing with the first. */
const nextHost = (options: LaunchOptions): LaunchOptions => ({ ...options, host: { ...options.host } })

const sandboxOf = ({ host, sessionId }: LaunchOptions): string => join(host.home, 'sandboxes', sessionId)

/** What the proxy of a session says to a request for another host than the listed one. */
async function refusalOf(options: LaunchOptions): Promise<string> {
  const folder = sandboxOf(options)
  const [launch = ''] = readdirSync(folder)
  // The path of a socket has at most 107 bytes.
  const short = mkdtempSync(join(tmpdir(), 'p-'))
  onTestFinished(() => rmSync(short, { recursive: true }))
  symlinkSync(join(folder, launch, 'egress'), join(short, 'e'))
  const socket = connect(join(short, 'e/proxy'))
  await once(socket, 'connect')
  socket.write('GET http://other.test/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  return (await text(socket)).split('\r\n')[0] ?? ''
}

test('16.3 a confined agent goes on with the next host, and its network', needs('linux', 'bwrap'), async () => {
  const keeper = new MemoryKeeper()
  const on = await prepare({}, { keeper })
  const options = launching(on)
  const agent = await launched(on, options)
  expect(agent).toMatchObject({ kept: true, warnings: [], sandbox: { provider: 'local', enforced: true } })
  expect(await refusalOf(options)).toBe('HTTP/1.1 403 Forbidden')
  // The first host leaves: its proxy is closed, and what the sandbox needs stays.
  await keeper.adopt(options.sessionId)
  await expect(refusalOf(options)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  const next = await adopted(on, nextHost(options))
  expect(await refusalOf(options)).toBe('HTTP/1.1 403 Forbidden')
  expect([next.process, next.sandbox, next.warnings]).toEqual([agent.process, agent.sandbox, []])
  next.begin()
  await next.send([{ type: 'text', text: 'start' }])
  await next.stop()
  expect(findMarkedProcesses(options.sessionId)).toEqual([])
  expect(existsSync(sandboxOf(options))).toBe(false)
})

test(
  '16.3 a confined agent whose egress proxy cannot be opened again goes on without a network',
  needs('linux', 'bwrap'),
  async () => {
    const keeper = new MemoryKeeper()
    const on = await prepare({}, { keeper })
    const options = launching(on)
    await launched(on, options)
    rmSync(sandboxOf(options), { recursive: true })
    const next = await adopted(on, nextHost(options))
    expect(next.warnings).toEqual([expect.stringContaining('The agent has no network')])
    next.begin()
    await next.send([{ type: 'text', text: 'start' }])
  },
)

test('16.3 an agent whose sandbox cannot be held again is not taken over, and one that only its host holds is not kept', async () => {
  const keeper = new MemoryKeeper()
  const release = async (): Promise<void> => {}
  const kept = { facts: {}, leave: release }
  const holdAgain = (): Promise<never> =>
    Promise.reject(new AgentprotoError('sandbox_unavailable', 'The lease is over'))
  const sandbox: AgentHost['sandbox'] = {
    providers: {
      lease: { prepare: async (_, { launch }) => ({ launch, enforced: true, warnings: [], release, kept }), holdAgain },
      own: { prepare: async (_, { launch }) => ({ launch, enforced: true, warnings: [], release }) },
    },
  }
  const on = await prepare({}, { keeper, sandbox })
  const options = launching(on, { provider: 'lease' })
  const { process } = await launched(on, options)
  await expect(adoptAgent(on.adapter.manifest, nextHost(options))).rejects.toMatchObject({
    code: 'not_adoptable',
    message: expect.stringContaining('The lease is over'),
  })
  expect(identify(process?.pid ?? 0)).toEqual(process)
  const other = await launched(on, launching(on, { provider: 'own' }))
  expect([other.kept, other.warnings]).toEqual([
    false,
    ['The agent ends with its gateway: its sandbox (own) is held by the gateway.'],
  ])
  await other.stop()
})
