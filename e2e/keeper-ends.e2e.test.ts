import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Daemon, startDaemon } from './support/daemon.js'
import { agentsIn, allEvents, endedTurns, keepingHome, ofType } from './support/kept-agents.js'
import { newMark } from './support/marked-processes.js'
import { allowOnce, pendingPermission } from './support/pending-request.js'

test('16.6 the keeper is killed while its gateway runs: its agents are ended, their sessions are resumed, and there is a new keeper', async () => {
  const { home, mark, env } = keeping('keeper-killed')
  const { client } = await startDaemon({ home, env })
  const sessions = await Promise.all(['one', 'two'].map(() => client.sessions.start({ adapter: 'demo', cwd: home })))
  const [idle = '', working = ''] = sessions.map(({ id }) => id)
  await client.sessions.promptAndWait(idle, { prompt: 'remember me' })
  await client.sessions.prompt(working, { prompt: 'stream 100000 5' })
  const keeper = keeperOf(home)
  process.kill(keeper, 'SIGKILL')
  for (const id of [idle, working]) {
    await expect.poll(async () => (await client.sessions.get(id)).status, { timeout: 20_000 }).not.toBe('running')
    expect(agentsIn(mark.living(), id)).toEqual([])
    const { failure } = await client.sessions.get(id)
    expect(JSON.stringify(failure)).toContain('the keeper has ended')
  }
  expect(ofType(await allEvents(client, working), 'turn-end')).toMatchObject([{ reason: 'error' }])

  await client.sessions.resume(idle)
  expect(await client.sessions.get(idle)).toMatchObject({ status: 'running', kept: true })
  expect((await client.sessions.promptAndWait(idle, { prompt: 'recall' })).text).toContain('remember me')
  const next = keeperOf(home)
  expect(next).not.toBe(keeper)
  const { id } = await client.sessions.start({ adapter: 'demo', cwd: home })
  expect(await client.sessions.get(id)).toMatchObject({ status: 'running', kept: true })
  expect(keeperOf(home)).toBe(next)
  await Promise.all([idle, id].map((each) => client.sessions.kill(each)))
  for (const each of [idle, id]) expect(agentsIn(mark.living(), each)).toEqual([])
})

test('16.6 the keeper is killed while no gateway runs: the next gateway ends what is left, and the session is resumed', async () => {
  const { home, mark, env } = keeping('keeper-killed-alone')
  const first = await startDaemon({ home, env })
  const { id } = await first.client.sessions.start({ adapter: 'demo', cwd: home })
  await first.client.sessions.prompt(id, { prompt: 'stream 100000 5' })
  const keeper = keeperOf(home)
  const [agent] = agentsIn(mark.living(), id)
  // What is stopped does not notice its broken pipes.
  process.kill(Number.parseInt(agent ?? '', 10), 'SIGSTOP')
  await first.crash()
  process.kill(keeper, 'SIGKILL')
  expect(agentsIn(mark.living(), id)).toEqual([agent])

  const { client } = await startDaemon({ home, env })
  await expect.poll(() => agentsIn(mark.living(), id)).toEqual([])
  const { status, failure } = await client.sessions.get(id)
  expect(status).toBe('error')
  expect(failure?.summary).toContain('The gateway ended while the session was active')
  await client.sessions.resume(id)
  expect(await client.sessions.get(id)).toMatchObject({ status: 'running', kept: true })
  await client.sessions.kill(id)
  expect(agentsIn(mark.living(), id)).toEqual([])
})

test('16.1 the keeper is frozen for 10 s while its gateway works: all else is served, and the turn goes on', async () => {
  const { home, mark, env } = keeping('keeper-frozen')
  const { client, url } = await startDaemon({ home, env })
  const { id } = await client.sessions.start({ adapter: 'demo', cwd: home })
  const doomed = (await client.sessions.start({ adapter: 'demo', cwd: home })).id
  await client.sessions.prompt(id, { prompt: 'stream 2000 5; ask frozen.txt hello; stream 3' })
  const [agent] = agentsIn(mark.living(), id)
  const keeper = keeperOf(home)
  freeze(keeper)
  const starting = client.sessions.start({ adapter: 'demo', cwd: home })
  const killed = client.sessions.kill(doomed).then(() => performance.now())
  const until = performance.now() + 10_000
  while (performance.now() < until) {
    const before = performance.now()
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ ok: true })
    expect((await client.sessions.list()).sessions.length).toBeGreaterThan(0)
    // What waited for the keeper would wait for 15 s.
    expect(performance.now() - before).toBeLessThan(10_000)
  }
  expect(agentsIn(mark.living(), doomed)).toEqual([])
  // The keeper's word is not waited for.
  expect(await killed).toBeLessThan(until)
  process.kill(keeper, 'SIGCONT')
  const asked = await pendingPermission(client, id)
  await client.sessions.answer(id, asked.requestId, { optionId: allowOnce(asked) })
  await expect.poll(() => endedTurns(client, id), { timeout: 20_000 }).toBe(1)
  expect(readFileSync(join(home, 'frozen.txt'), 'utf8')).toBe('hello\n')
  const events = await allEvents(client, id)
  expect(ofType(events, 'repair')).toEqual([])
  expect(ofType(events, 'turn-end')).toMatchObject([{ reason: 'end_turn' }])
  expect(agentsIn(mark.living(), id)).toEqual([agent])
  const other = (await starting).id
  expect(await client.sessions.get(other)).toMatchObject({ status: 'running', kept: true })
  expect(keeperOf(home)).toBe(keeper)
})

test('16.1 the keeper is frozen for 10 s while a gateway starts: it goes on with the same agents', async () => {
  const { home, mark, env } = keeping('keeper-frozen-start')
  const first = await startDaemon({ home, env })
  const { id } = await first.client.sessions.start({ adapter: 'demo', cwd: home })
  await first.client.sessions.prompt(id, { prompt: 'stream 2000 5' })
  const [agent] = agentsIn(mark.living(), id)
  const keeper = keeperOf(home)
  await first.crash()
  freeze(keeper)
  const frozen = performance.now()
  const thaw = setInterval(() => performance.now() - frozen > 10_000 && process.kill(keeper, 'SIGCONT'), 100)
  onTestFinished(() => clearInterval(thaw))
  const { client }: Daemon = await startDaemon({ home, env })
  clearInterval(thaw)
  expect(performance.now() - frozen).toBeGreaterThan(10_000)
  await expect.poll(() => endedTurns(client, id), { timeout: 20_000 }).toBe(1)
  expect(agentsIn(mark.living(), id)).toEqual([agent])
  expect(ofType(await allEvents(client, id), 'repair')).toEqual([])
  expect(keeperOf(home)).toBe(keeper)
})

function keeping(name: string) {
  const home = keepingHome(name)
  const mark = newMark()
  return { home, mark, env: { AGENTPROTO_DEMO_HOME: join(home, 'demo'), ...mark.env } }
}

/** The process that holds the agents of a home. */
function keeperOf(home: string): number {
  const folder = join(home, '.agentproto', 'keeper')
  const isKeeper = (pid: string): boolean => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      return words.includes(folder) && words.some((word) => word.endsWith('agentproto-keeper.mjs'))
    } catch {
      return false
    }
  }
  const [pid, ...others] = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isKeeper(name))
  expect(others).toEqual([])
  return Number(pid)
}

/** A failed test leaves no frozen process. */
function freeze(pid: number): void {
  process.kill(pid, 'SIGSTOP')
  onTestFinished(() => {
    try {
      process.kill(pid, 'SIGCONT')
    } catch {
      // It has ended.
    }
  })
}
