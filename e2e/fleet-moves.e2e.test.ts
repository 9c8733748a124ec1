import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Session } from '@agentproto/client'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import type { Daemon } from './support/daemon.js'
import { type Fleet, startFleet } from './support/fleet.js'
import { agentsIn } from './support/kept-agents.js'
import { newMark } from './support/marked-processes.js'
import { temporaryFolder } from './support/temporary-folder.js'

// Two real gateways with keepers, on a real NATS server: what becomes of sessions that may move when their host is lost.

const LEASE_MS = 3_000

test(
  '17.3 the agents of a gateway that is frozen have ended before another host takes their session, and it is fenced when it goes on',
  { ...needs('nats-server', 'linux'), timeout: 120_000 },
  async () => {
    const mark = newMark()
    const fleet = await startFleet({ keeper: true, leaseMs: LEASE_MS, env: mark.env })
    const { owner, other, ownerHome } = fleet
    await folderOfApp(fleet)
    const { id } = await owner.client.sessions.start({ adapter: 'demo', workspaceSlug: 'app', onHostLoss: 'move' })
    // It ignores SIGTERM, and has left a process in a session of its own.
    for (const prompt of ['stubborn', 'fork']) await owner.client.sessions.promptAndWait(id, { prompt })
    await owner.client.sessions.prompt(id, { prompt: 'hang!' })
    await expect.poll(async () => (await other.client.sessions.get(id)).turnCount).toBe(3)
    expect(agentsIn(mark.living(), id).length).toBeGreaterThan(1)

    freeze(owner)
    expect(await hasEndedBefore(() => agentsIn(mark.living(), id), other, id)).toBe(true)
    await expect.poll(async () => (await other.client.sessions.get(id)).state, { timeout: 20_000 }).toBe('asleep')
    // It goes on at the other host, where it knows what was said.
    await other.client.sessions.promptAndWait(id, { prompt: 'and now' })
    const moved = await other.client.sessions.get(id)
    expect(moved).toMatchObject({ hostId: 'two', movedFrom: 'one', resumedHow: 'transcript', turnCount: 4 })

    process.kill(owner.pid, 'SIGCONT')
    await expect.poll(() => storedSession(ownerHome, id).movedTo, { timeout: 20_000 }).toBe('two')
    expect(owner.printed()).toContain(`The session ${id} is the session of two now.`)
    const here = agentsIn(mark.living(), id).filter((line) => isOf(line, ownerHome))
    expect(here).toEqual([])
    expect((await owner.client.sessions.get(id)).hostId).toBe('two')
  },
)

/** The workspace `app` of both hosts, each in a folder of its own. */
async function folderOfApp({ owner, other }: Fleet): Promise<void> {
  for (const { client } of [owner, other]) {
    const path = join(temporaryFolder('app'), 'app')
    mkdirSync(path)
    await client.workspaces.add({ path, slug: 'app' })
  }
}

function freeze({ pid }: Daemon): void {
  process.kill(pid, 'SIGSTOP')
  onTestFinished(() => void process.kill(pid, 'SIGCONT'))
}

/** Whether no process of the agent was left at the last look before the session was one of the other host. */
async function hasEndedBefore(living: () => readonly string[], other: Daemon, id: string): Promise<boolean> {
  for (let left = living(); ; left = living()) {
    const { hostId, movedFrom } = await other.client.sessions.get(id)
    if (hostId === 'two' || movedFrom !== undefined) return left.length === 0
    await sleep(10)
  }
}

/** What the home of a gateway says of a session, whatever the fleet says. */
const storedSession = (home: string, id: string): Session =>
  (JSON.parse(readFileSync(join(home, '.agentproto', 'sessions', id, 'meta.json'), 'utf8')) as { session: Session })
    .session

const isOf = (line: string, home: string): boolean => {
  const environment = readFileSync(`/proc/${line.split(' ', 1)[0]}/environ`, 'utf8')
  return environment.includes(home)
}
