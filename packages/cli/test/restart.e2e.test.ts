import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { findMarkedProcesses, identify } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { cli, folder, serve, withoutKeeper } from './cli-process.js'

interface DaemonRecord {
  readonly pid: number
  readonly url: string
  readonly onRestart?: string
}

const recordOf = (home: string): DaemonRecord =>
  JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')) as DaemonRecord
const agentsOf = (id: string): readonly number[] => findMarkedProcesses(id).map(({ pid }) => pid)

/** A session of the demo agent in the middle of a turn. */
async function working(home: string): Promise<{ readonly id: string; readonly agent: number }> {
  const { stdout } = await cli(['sessions', 'start', 'demo', '--label', 'try', '--cwd', home, '--json'], { home })
  const { id } = JSON.parse(stdout) as { readonly id: string }
  expect(await cli(['sessions', 'prompt', 'try', 'stream 400 50'], { home })).toMatchObject({ code: 0 })
  const [agent = 0] = agentsOf(id)
  return { id, agent }
}

const session = async (home: string): Promise<object> =>
  JSON.parse((await cli(['sessions', 'show', 'try', '--json'], { home })).stdout) as object

/** The gateway that a restart put in the place of another one ends with the test. */
function endedAfter(home: string): string {
  onTestFinished(async () => void (await cli(['stop'], { home })))
  return home
}

test('16.5 restart in a terminal: the same agent, the same turn, the same address, and the terminal still has the gateway', async () => {
  const home = endedAfter(folder())
  const gateway = await serve(home)
  const { agent, id } = await working(home)
  const before = recordOf(home)
  const { code, stdout, stderr } = await cli(['restart', '--json'], { home })
  expect({ code, stderr }).toMatchObject({ code: 0 })
  const after = recordOf(home)
  expect(JSON.parse(stdout)).toMatchObject({ restarted: true, pid: after.pid, url: before.url })
  expect(after.pid).not.toBe(before.pid)
  expect(after.url).toBe(before.url)
  expect(agentsOf(id)).toEqual([agent])
  expect(await session(home)).toMatchObject({ status: 'running', kept: true, turn: { number: 1 } })
  // Once more: the process of the terminal starts each further one.
  expect(await cli(['restart'], { home })).toMatchObject({ code: 0 })
  expect(recordOf(home).pid).not.toBe(after.pid)
  expect(agentsOf(id)).toEqual([agent])
  expect(gateway.child.exitCode).toBe(null)
  gateway.child.kill('SIGTERM')
  expect(await gateway.ended).toMatchObject({ code: 0 })
  expect(agentsOf(id)).toEqual([])
})

test('16.5 restart in the background, twice at once, keeps the agent and the options', async () => {
  const home = endedAfter(folder())
  expect(await cli(['serve', '--detach', '--port', '0'], { home })).toMatchObject({ code: 0 })
  const { agent, id } = await working(home)
  const before = recordOf(home)
  const both = await Promise.all([1, 2].map(() => cli(['restart'], { home })))
  expect(both).toMatchObject([
    { code: 0, stdout: `${before.url}\n` },
    { code: 0, stdout: `${before.url}\n` },
  ])
  expect(recordOf(home).pid).not.toBe(before.pid)
  expect(agentsOf(id)).toEqual([agent])
  expect(await session(home)).toMatchObject({ status: 'running', turn: { number: 1 } })
  expect(await cli(['stop'], { home })).toMatchObject({ code: 0 })
  expect(agentsOf(id)).toEqual([])
})

test('16.5 stop --keep-agents leaves them, status and doctor show them, the next gateway goes on, and stop without one ends them', async () => {
  const home = endedAfter(folder())
  const first = await serve(home)
  const { agent, id } = await working(home)
  expect(await cli(['stop', '--keep-agents'], { home })).toMatchObject({ code: 0 })
  expect(await first.ended).toMatchObject({ code: 0 })
  expect(agentsOf(id)).toEqual([agent])
  const status = await cli(['status'], { home })
  expect(status).toMatchObject({ code: 1 })
  expect(status.stderr).toMatch(
    /agents of the last one go on[\s\S]*1 agent, 1 in a turn[\s\S]*agentproto serve --detach/,
  )

  const second = await serve(home)
  expect(second.url).toBe(first.url)
  const { keeper } = JSON.parse((await cli(['status', '--json'], { home })).stdout) as { readonly keeper: object }
  expect(keeper).toMatchObject({ wire: 2, agents: 1, busy: 1 })
  const { checks } = JSON.parse((await cli(['doctor', '--json'], { home })).stdout) as { checks: { id: string }[] }
  expect(checks.find((check) => check.id === 'keeper')).toMatchObject({
    verdict: 'ok',
    detail: expect.stringMatching(/wire 2, pid \d+: 1 agent, 1 in a turn, .* kept$/) as string,
  })
  expect(await session(home)).toMatchObject({ status: 'running', turn: { number: 1 } })
  second.child.kill('SIGKILL')
  await second.ended
  expect(agentsOf(id)).toEqual([agent])
  expect(await cli(['stop'], { home })).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('Ended 1 agent that one had left.') as string,
  })
  expect(agentsOf(id)).toEqual([])
})

test('16.5 stop --force ends the agents too', async () => {
  const home = endedAfter(folder())
  await serve(home)
  const { id } = await working(home)
  expect(await cli(['stop', '--force'], { home })).toMatchObject({ code: 0 })
  expect(agentsOf(id)).toEqual([])
})

test('16.5 a gateway that cannot leave its agents is not restarted without consent', async () => {
  const home = endedAfter(withoutKeeper(folder()))
  const gateway = await serve(home)
  const { id } = await working(home)
  expect(await cli(['restart'], { home })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/without a keeper[\s\S]*end 1 of them[\s\S]*--end-agents/) as string,
  })
  // As a gateway of an earlier version has recorded itself.
  const { onRestart: _, ...earlier } = recordOf(home)
  writeFileSync(join(home, 'daemon.json'), JSON.stringify(earlier))
  expect(await cli(['restart'], { home })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('cannot leave its agents') as string,
  })
  expect(await cli(['stop', '--keep-agents'], { home })).toMatchObject({ code: 1 })
  expect(agentsOf(id)).toHaveLength(1)
  expect(gateway.child.exitCode).toBe(null)
  expect(await cli(['restart', '--end-agents'], { home })).toMatchObject({ code: 0 })
  expect(agentsOf(id)).toEqual([])
  expect(recordOf(home).pid).not.toBe(gateway.child.pid)
})

test('16.5 a gateway that was killed and has no terminal any more is found by its child, which leaves its agents', async () => {
  const home = endedAfter(folder())
  const gateway = await serve(home)
  const { agent, id } = await working(home)
  expect(await cli(['restart'], { home })).toMatchObject({ code: 0 })
  const { pid } = recordOf(home)
  gateway.child.kill('SIGKILL')
  await expect.poll(() => identify(pid)).toBeUndefined()
  expect(agentsOf(id)).toEqual([agent])
  await serve(home)
  expect(await session(home)).toMatchObject({ status: 'running', kept: true, turn: { number: 1 } })
})

test('16.5 restart without a gateway starts one, and one with an invalid configuration is not restarted', async () => {
  const home = endedAfter(folder())
  const { stdout, stderr, code } = await cli(['restart'], { home })
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: `${recordOf(home).url}\n`,
    stderr: 'No gateway was running. One was started.\n',
  })
  const { pid } = recordOf(home)
  writeFileSync(join(home, 'config.json'), '{ "keper": true }')
  expect(await cli(['restart'], { home })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('keeper') as string,
  })
  expect(recordOf(home).pid).toBe(pid)
})

test('16.R4 a gateway that ends while it is about to be restarted: no process is signalled, and another one starts', async () => {
  const home = endedAfter(folder())
  const ending = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000)'], { stdio: 'ignore' })
  onTestFinished(() => void ending.kill())
  await once(ending, 'spawn')
  const { pid = 0 } = ending
  const server = createServer((request, response) => {
    const isList = request.url?.startsWith('/sessions') === true
    const gone = isList && ending.kill() ? once(ending, 'exit') : Promise.resolve()
    void gone.then(() => response.end(JSON.stringify(isList ? { sessions: [] } : { status: 'ok' })))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it has no port')
  const record = { pid, url: `http://127.0.0.1:${address.port}`, startedAt: '', version: '0', onRestart: 'ends-agents' }
  writeFileSync(join(home, 'daemon.lock'), JSON.stringify(identify(pid)))
  writeFileSync(join(home, 'daemon.json'), JSON.stringify(record))
  writeFileSync(join(home, 'token'), 'x', { mode: 0o600 })
  const { code, stderr } = await cli(['restart'], { home })
  expect({ code, stderr }).toMatchObject({ code: 0 })
  expect(recordOf(home).pid).not.toBe(pid)
})
