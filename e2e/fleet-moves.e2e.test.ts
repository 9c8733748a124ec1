import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Session } from '@agentproto/client'
import { expect, onTestFinished, test, vi } from 'vitest'
import { needs } from '../tooling/needs.ts'
import type { Daemon } from './support/daemon.js'
import { killKeepers } from './support/end-keeper.js'
import { type Fleet, startFleet } from './support/fleet.js'
import { agentsIn } from './support/kept-agents.js'
import { git } from './support/repository.js'
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

test(
  '17.3 a gateway that is started again without its fleet runs no session that another host may take, and says what to do',
  { ...needs('nats-server', 'linux'), timeout: 120_000 },
  async () => {
    const mark = newMark()
    const fleet = await startFleet({ keeper: true, leaseMs: LEASE_MS, env: mark.env })
    const { owner, other, ownerHome, nextOwner } = fleet
    await folderOfApp(fleet)
    const { id } = await owner.client.sessions.start({ adapter: 'demo', workspaceSlug: 'app', onHostLoss: 'move' })
    const stays = await owner.client.sessions.start({ adapter: 'demo', workspaceSlug: 'app' })
    await owner.client.sessions.prompt(id, { prompt: 'hang!' })
    await owner.client.sessions.prompt(stays.id, { prompt: 'hang' })
    await expect.poll(async () => (await other.client.sessions.get(id)).turnCount).toBe(1)
    const here = (session: string): readonly string[] =>
      agentsIn(mark.living(), session).filter((line) => isOf(line, ownerHome))
    expect(here(id).length).toBeGreaterThan(0)
    await owner.crash()

    const config = join(ownerHome, '.agentproto', 'config.json')
    const inFleet = readFileSync(config, 'utf8')
    writeFileSync(config, '{}')
    const alone = await nextOwner()
    expect(here(id)).toEqual([])
    expect(here(stays.id).length).toBeGreaterThan(0)
    expect(alone.printed()).toMatch(
      /1 session\(s\) that may move to another host do not run here[^\n]*fork such a session/,
    )
    await expect(alone.client.sessions.prompt(id, { prompt: 'x' })).rejects.toMatchObject({ code: 'host_unreachable' })
    expect((await alone.client.sessions.get(stays.id)).turn.state).toBe('busy')

    // The other host goes on with it meanwhile; this one still does not.
    await expect
      .poll(async () => (await other.client.sessions.get(id)).hostId, { timeout: 30_000, interval: 500 })
      .toBe('two')
    // It may still be taking the session over.
    await vi.waitFor(() => other.client.sessions.promptAndWait(id, { prompt: 'and now' }), {
      timeout: 30_000,
      interval: 500,
    })
    await expect(alone.client.sessions.prompt(id, { prompt: 'x' })).rejects.toMatchObject({ code: 'host_unreachable' })
    expect(here(id)).toEqual([])

    await alone.crash()
    writeFileSync(config, inFleet)
    await nextOwner()
    await expect.poll(() => storedSession(ownerHome, id).movedTo, { timeout: 30_000 }).toBe('two')
  },
)

test(
  '17.6 the sessions of a host that is killed with all of its processes go on at another host, with the branches that a remote has',
  { ...needs('nats-server', 'linux', 'git'), timeout: 180_000 },
  async () => {
    const mark = newMark()
    const fleet = await startFleet({ keeper: true, leaseMs: LEASE_MS, env: mark.env })
    const { owner, other, ownerHome } = fleet
    const repository = await repositoryOfApp(fleet)
    const cart = await inWorktree(owner, 'cart')
    const local = await inWorktree(owner, 'local')
    git(pathOf(cart), 'push', '-q', 'origin', 'cart')
    await owner.client.sessions.prompt(cart.id, { prompt: 'hang!' })
    for (const { id } of [cart, local])
      await expect.poll(async () => (await other.client.sessions.get(id)).turnCount).toBeGreaterThan(0)

    const here = (): readonly string[] => mark.living().filter((line) => isOf(line, ownerHome))
    await killAll(owner, ownerHome, here)
    for (const { id } of [cart, local])
      await expect.poll(async () => (await other.client.sessions.get(id)).state, { timeout: 40_000 }).toBe('asleep')

    const taken = await other.client.sessions.get(cart.id)
    const without = await other.client.sessions.get(local.id)
    expect(taken).toMatchObject({ hostId: 'two', movedFrom: 'one', worktree: { branch: 'cart', repository } })
    expect(readFileSync(join(pathOf(taken), 'cart.txt'), 'utf8')).toBe('work\n')
    expect(taken.warnings.join('\n')).toContain('Its branch cart was fetched from origin')
    expect(without.warnings.join('\n')).toContain('No remote of the repository here has its branch local')
    expect(existsSync(join(pathOf(without), 'local.txt'))).toBe(false)
    for (const { id } of [cart, local]) {
      await other.client.sessions.promptAndWait(id, { prompt: 'and now' })
      expect(await other.client.sessions.get(id)).toMatchObject({ resumedHow: 'transcript', movedFrom: 'one' })
    }

    const again = await fleet.nextOwner()
    for (const { id } of [cart, local]) {
      await expect.poll(() => storedSession(ownerHome, id).movedTo, { timeout: 40_000 }).toBe('two')
      expect(storedSession(ownerHome, id)).toMatchObject({ stopReason: 'moved' })
      expect((await again.client.sessions.get(id)).hostId).toBe('two')
      expect(agentsIn(here(), id)).toEqual([])
    }
  },
)

/** The workspace `app` of host `one` with a remote, and a clone of that as the one of host `two`. @returns the clone */
async function repositoryOfApp({ owner, other }: Fleet): Promise<string> {
  const [remote, mine, clone] = ['remote.git', 'one', 'two'].map((name) => join(temporaryFolder('app'), name))
  if (remote === undefined || mine === undefined || clone === undefined) throw new Error('a folder is missing')
  mkdirSync(mine)
  git(mine, 'init', '-q', '-b', 'main')
  git(mine, ...AS_ADA, 'commit', '-q', '--allow-empty', '-m', 'first')
  git(mine, 'init', '-q', '--bare', '-b', 'main', remote)
  git(mine, 'remote', 'add', 'origin', remote)
  git(mine, 'push', '-q', 'origin', 'main')
  git(mine, 'clone', '-q', remote, clone)
  await owner.client.workspaces.add({ path: mine, slug: 'app' })
  await other.client.workspaces.add({ path: clone, slug: 'app' })
  return clone
}

const AS_ADA = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']

/** A session that may move, with one turn, and one commit on its branch. */
async function inWorktree({ client }: Daemon, branch: string): Promise<Session> {
  const place = { workspaceSlug: 'app', worktree: { branch } }
  const session = await client.sessions.start({ adapter: 'demo', onHostLoss: 'move', ...place })
  await client.sessions.promptAndWait(session.id, { prompt: 'hello' })
  const path = pathOf(session)
  writeFileSync(join(path, `${branch}.txt`), 'work\n')
  git(path, 'add', '-A')
  git(path, ...AS_ADA, 'commit', '-q', '-m', 'work')
  return session
}

const pathOf = ({ worktree }: Session): string => worktree?.path ?? ''

/** The gateway, its keeper and its agents, as a machine that loses its power. */
async function killAll(gateway: Daemon, home: string, living: () => readonly string[]): Promise<void> {
  const crashed = gateway.crash()
  killKeepers(home)
  await crashed
  for (const line of living()) {
    try {
      process.kill(Number(line.split(' ', 1)[0]), 'SIGKILL')
    } catch {
      // It has ended with its pipes.
    }
  }
  await expect.poll(living).toEqual([])
}

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

/** A process that has ended has no environment. */
function isOf(line: string, home: string): boolean {
  try {
    return readFileSync(`/proc/${line.split(' ', 1)[0]}/environ`, 'utf8').includes(home)
  } catch {
    return false
  }
}
