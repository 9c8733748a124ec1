import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findMarkedProcesses, identify } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { cli, folder, serve, start, type Started, withoutKeeper } from './cli-process.js'

interface Record {
  readonly pid: number
  readonly url: string
}

const recordOf = (home: string): Record => JSON.parse(readFileSync(join(home, 'daemon.json'), 'utf8')) as Record
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
