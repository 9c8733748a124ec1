import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SessionEvent } from '@agentproto/contracts'
import { connectKeeper, type HomeKeeper, lookAtKeeper } from '@agentproto/keeper'
import { createGateway, type Gateway } from '@agentproto/runtime'
import { findMarkedProcesses } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'

const owner = { type: 'owner', name: 'owner' } as const

interface Keeping {
  readonly home: string
  readonly problems: string[]
  readonly gateway: Gateway
  /** The next gateway of the home. */
  readonly next: () => Promise<Gateway>
}

async function keeping(): Promise<Keeping> {
  const home = mkdtempSync(join(tmpdir(), 'displaced-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const problems: string[] = []
  const env = { ...process.env, AGENTPROTO_DEMO_HOME: join(home, 'demo') }
  const next = async (): Promise<Gateway> => {
    const onProblem = (problem: string): void => void problems.push(problem)
    const gateway = await createGateway({ home, cwd: home, env, keeper: true, onProblem })
    onTestFinished(() => gateway.close())
    return gateway
  }
  return { home, problems, gateway: await next(), next }
}

/** Takes the keeper from its gateway. */
async function intrude(home: string): Promise<HomeKeeper> {
  const intruder = await connectKeeper({ folder: join(home, 'keeper'), orphanMs: 60_000 })
  if (intruder === undefined) throw new Error('no keeper runs')
  onTestFinished(() => intruder.close())
  return intruder
}

/** A session in the middle of a streamed answer. */
async function streaming({ sessions }: Gateway, prompt: string): Promise<string> {
  const { id, lastSeq } = await sessions.spawn({ adapter: 'demo', prompt }, owner)
  await expect.poll(async () => (await sessions.get(id)).lastSeq, { timeout: 10_000 }).toBeGreaterThan(lastSeq + 5)
  return id
}

async function eventsOf({ sessions }: Gateway, id: string): Promise<readonly SessionEvent[]> {
  const { records } = await sessions.events(id, 0, 1_000)
  return records.map(({ json }) => JSON.parse(json) as SessionEvent)
}

const textIn = (events: readonly SessionEvent[]): string =>
  events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')

test('16.2 a gateway takes back the keeper that another program took: the turn goes on, each event is there once and in order', async () => {
  const { home, problems, gateway } = await keeping()
  const id = await streaming(gateway, 'stream 60 30')
  const [{ pid } = { pid: 0 }] = findMarkedProcesses(id)
  for (let times = 0; times < 2; times += 1)
    expect(await (await intrude(home)).lost).toMatchObject({ cause: 'taken-over' })
  expect(await gateway.sessions.waitTurn(id, 1)).toMatchObject({ state: 'ended', reason: 'end_turn' })
  const interrupted = await eventsOf(gateway, id)
  expect(interrupted.map(({ seq }) => seq)).toEqual(interrupted.map((_, at) => at + 1))
  const whole = await streaming(gateway, 'stream 60 1')
  await gateway.sessions.waitTurn(whole, 1)
  expect(textIn(interrupted)).toBe(textIn(await eventsOf(gateway, whole)))
  expect(findMarkedProcesses(id)).toMatchObject([{ pid }])
  expect(await gateway.sessions.kill(id, owner)).toMatchObject({ ok: true })
  expect(findMarkedProcesses(id)).toEqual([])
  await expect
    .poll(async () => (await lookAtKeeper(join(home, 'keeper')))?.agents.map(({ key }) => key))
    .toEqual([whole])
  expect(problems.filter((problem) => problem.startsWith('Another program took the keeper'))).toHaveLength(2)
})

test('16.2 an agent to which another program wrote is not taken for what it was: its session ends and can be resumed', async () => {
  const { home, gateway } = await keeping()
  const id = await streaming(gateway, 'stream 2000 20')
  const intruder = await intrude(home)
  const agent = await intruder.adopt(id)
  await agent?.write('{"jsonrpc":"2.0","method":"session/cancel"}\n')
  await expect.poll(async () => (await gateway.sessions.get(id)).status, { timeout: 20_000 }).toBe('error')
  expect(findMarkedProcesses(id)).toEqual([])
  expect(await gateway.sessions.resume(id, {}, owner)).toMatchObject({ status: 'running', kept: true })
})

test('16.2 a gateway that has lost the lock of its home does not take the keeper back, and ends no agent', async () => {
  const { home, gateway, next } = await keeping()
  const id = await streaming(gateway, 'stream 2000 20')
  const lock = join(home, 'daemon.lock')
  writeFileSync(lock, readFileSync(lock, 'utf8').replace(/"pid":\d+/, '"pid":1'))
  const intruder = await intrude(home)
  expect(await lookAtKeeper(join(home, 'keeper'))).toMatchObject({ controller: process.pid })
  await expect(gateway.sessions.kill(id, owner)).rejects.toMatchObject({ code: 'termination_failed' })
  expect(findMarkedProcesses(id)).toHaveLength(1)
  expect(await intruder.list()).toMatchObject([{ key: id }])
  await expect(gateway.close({ keepAgents: true })).resolves.toBeUndefined()
  intruder.close()
  rmSync(lock)
  expect(await (await next()).sessions.get(id)).toMatchObject({ status: 'running', kept: true })
})

test('16.2 a restart while another program has the keeper is not held up, and the next gateway goes on with the agents', async () => {
  const { home, gateway, next } = await keeping()
  const id = await streaming(gateway, 'stream 100 20')
  await intrude(home)
  const began = Date.now()
  await gateway.close({ keepAgents: true })
  expect(Date.now() - began).toBeLessThan(5_000)
  const second = await next()
  expect(await second.sessions.waitTurn(id, 1)).toMatchObject({ state: 'ended', reason: 'end_turn' })
})

test('16.2 a gateway whose keeper is frozen ends within seconds, also after a kill', async () => {
  const { gateway, next } = await keeping()
  const [killed, other] = [await streaming(gateway, 'stream 2000 20'), await streaming(gateway, 'stream 100 20')]
  const pid = gateway.keeper?.pid ?? 0
  process.kill(pid, 'SIGSTOP')
  await gateway.sessions.kill(killed, owner)
  const began = Date.now()
  await gateway.close({ keepAgents: true })
  expect(Date.now() - began).toBeLessThan(10_000)
  process.kill(pid, 'SIGCONT')
  const second = await next()
  expect(await second.sessions.waitTurn(other, 1)).toMatchObject({ state: 'ended', reason: 'end_turn' })
  expect(findMarkedProcesses(killed)).toEqual([])
})
