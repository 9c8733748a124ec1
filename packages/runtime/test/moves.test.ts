import { execFileSync } from 'node:child_process'
import { cpSync, existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Principal, Session } from '@agentproto/contracts'
import type { EventRecord, LostSession, StoredSession, Worktree } from '@agentproto/contracts/agent'
import { demoAgentPath } from '@agentproto/demo-agent'
import { openSessionRegistry, type SessionRegistry } from '@agentproto/session-registry'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../tooling/needs.js'
import { observe } from '../src/observe.js'
import { openAgents } from '../src/open-agents.js'
import { recording } from '../src/recording.js'
import { sessionWorktrees } from '../src/session-worktrees.js'
import { settingsOf } from '../src/settings.js'
import { stores } from '../src/stores.js'
import { temporaryHome } from './fixtures/temporary-home.js'

const owner: Principal = { type: 'owner', name: 'owner' }
const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()

interface HostParts {
  /** One that another host has left. */
  readonly home?: string
  /** Whether the host is as good as killed before or after this record is saved. */
  readonly saved?: (session: StoredSession) => 'before' | 'after' | 'no'
  readonly onKilled?: () => void
  readonly onProblem?: (problem: string) => void
}

/** A host with a home of its own, whose workspace `shop` is that folder; its agents are real processes. */
async function host(
  hostId: string,
  shop: string,
  { home: given, saved, onKilled, onProblem = () => undefined }: HostParts = {},
): Promise<{ readonly registry: SessionRegistry; readonly shop: string; readonly home: string }> {
  const home = given ?? (await temporaryHome())
  const settings = await settingsOf({ home, executables: { 'agentproto-demo-agent': demoAgentPath } })
  const observers = observe(settings)
  const agents = openAgents(settings, { ...observers, keeper: undefined })
  const { store, ...others } = stores({ ...settings, onProblem: observers.onProblem })
  const save = async (session: StoredSession): Promise<void> => {
    const isKilled = saved?.(session) ?? 'no'
    if (isKilled !== 'before') await store.save(session)
    if (isKilled === 'no') return
    onKilled?.()
    await new Promise(() => undefined)
  }
  const registry = await openSessionRegistry({
    ...others,
    store: { ...store, load: () => store.load(), delete: (id) => store.delete(id), close: () => store.close(), save },
    onProblem,
    ...sessionWorktrees(settings, agents),
    ...recording(settings),
    ...agents,
    clock: settings.clock,
    hostId,
  })
  onTestFinished(async () => {
    await registry.close()
    await observers.log.close()
    await observers.audit.close()
  })
  if (given === undefined) await agents.workspaces.add({ slug: 'shop', path: shop })
  return { registry, shop, home }
}

async function folder(): Promise<string> {
  const made = join(await temporaryHome(), 'shop')
  await mkdir(made, { recursive: true })
  return made
}

const start = (registry: SessionRegistry, request: object = {}): Promise<Session> =>
  registry.spawn(
    { adapter: 'demo', workspaceSlug: 'shop', onHostLoss: 'move', permissionMode: 'approve-all', ...request },
    owner,
  )

async function turn(registry: SessionRegistry, id: string, prompt: string) {
  const { turn: number } = await registry.prompt(id, { prompt }, owner)
  return registry.waitTurn(id, number)
}

/** What a fleet has of a session: its record, and the events that its host had published. */
async function lost(registry: SessionRegistry, id: string, from: string): Promise<LostSession> {
  const records: EventRecord[] = []
  for (;;) {
    const batch = await registry.events(id, records.length, 1_000)
    if (batch.records.length === 0) break
    records.push(...batch.records)
  }
  async function* events() {
    yield { records }
  }
  return { session: await registry.get(id), settings: registry.moves.settingsOf(id), from, events: events() }
}

const pidOf = (registry: SessionRegistry, id: string): Promise<boolean> =>
  registry.get(id).then(({ status }) => status === 'running')

test('17.6 with real agents: a session moves in the middle of a turn, its old agent ends, and the next one has the transcript', async () => {
  const [a, b] = [await host('a', await folder()), await host('b', await folder())]
  const { id } = await start(a.registry)
  await turn(a.registry, id, 'echo zebras')
  await a.registry.prompt(id, { prompt: 'hang!' }, owner)
  const taken = await b.registry.moves.takeOver(await lost(a.registry, id, 'a'))
  expect(taken).toMatchObject({ id, hostId: 'b', movedFrom: 'a', state: 'asleep', cwd: b.shop })
  await a.registry.moves.giveUp(id, 'b')
  expect(await a.registry.get(id)).toMatchObject({ stopReason: 'moved', movedTo: 'b' })
  expect(await turn(b.registry, id, 'write demo.txt here')).toMatchObject({ reason: 'end_turn' })
  expect(await b.registry.get(id)).toMatchObject({ resumedHow: 'transcript', status: 'running', turnCount: 3 })
  const events = (await lost(b.registry, id, 'b')).events
  const text: string[] = []
  for await (const { records } of events) text.push(...records.map(({ json }) => json))
  expect(text.join('\n')).toMatch(/"preface":\[.*transcript.*zebras/)
  expect(text.map((json) => (JSON.parse(json) as { seq: number }).seq)).toEqual(text.map((_, at) => at + 1))
})

test('17.6 with real agents: a worktree goes on from the branch that a remote has', needs('git'), async () => {
  const remote = join(await temporaryHome(), 'remote.git')
  const one = await folder()
  git(one, 'init', '-q', '-b', 'main')
  git(one, 'config', 'user.name', 'Ada')
  git(one, 'config', 'user.email', 'ada@example.com')
  await writeFile(join(one, 'a.txt'), 'a\n')
  git(one, 'add', '-A')
  git(one, 'commit', '-q', '-m', 'first')
  git(one, 'init', '-q', '--bare', '-b', 'main', remote)
  git(one, 'remote', 'add', 'origin', remote)
  git(one, 'push', '-q', 'origin', 'main')
  const two = join(await temporaryHome(), 'shop')
  git(one, 'clone', '-q', remote, two)
  const [a, b] = [await host('a', one), await host('b', two)]
  const { id, worktree } = await start(a.registry, { worktree: { branch: 'cart' } })
  const path = worktree?.path ?? ''
  await writeFile(join(path, 'work.txt'), 'done\n')
  git(path, 'add', '-A')
  git(path, '-c', 'user.name=Ada', '-c', 'user.email=a@b.c', 'commit', '-q', '-m', 'work')
  git(path, 'push', '-q', 'origin', 'cart')
  const taken = await b.registry.moves.takeOver(await lost(a.registry, id, 'a'))
  expect(taken.worktree).toMatchObject({ branch: 'cart', repository: two, folder: two })
  expect(taken.cwd).toBe(taken.worktree?.path)
  expect(await readFile(join(taken.cwd, 'work.txt'), 'utf8')).toBe('done\n')
  expect(taken.warnings.join('\n')).toMatch(
    /Its branch cart was fetched from origin[\s\S]*what was not pushed stayed on a/,
  )
  expect(await turn(b.registry, id, 'echo on')).toMatchObject({ reason: 'end_turn' })
  expect(existsSync(join(two, 'work.txt'))).toBe(false)
})

test(
  '17.6 with real agents: a worktree whose branch no remote has goes on in a new one, and says what is missing',
  needs('git'),
  async () => {
    const repositories = await Promise.all([folder(), folder()])
    for (const each of repositories) {
      git(each, 'init', '-q', '-b', 'main')
      git(each, '-c', 'user.name=Ada', '-c', 'user.email=a@b.c', 'commit', '-q', '--allow-empty', '-m', 'first')
    }
    const [a, b] = [await host('a', repositories[0]), await host('b', repositories[1])]
    const { id } = await start(a.registry, { worktree: { branch: 'cart' } })
    const taken = await b.registry.moves.takeOver(await lost(a.registry, id, 'a'))
    expect(taken.warnings.join('\n')).toMatch(/No remote of the repository here has its branch cart/)
    expect(taken).toMatchObject({ state: 'asleep', worktree: { repository: b.shop } })
    expect(await turn(b.registry, id, 'echo on')).toMatchObject({ reason: 'end_turn' })
  },
)

test(
  '17.6 with real agents: without a repository a session that had a worktree stays ended, and says why',
  needs('git'),
  async () => {
    const repo = await folder()
    git(repo, 'init', '-q', '-b', 'main')
    git(repo, '-c', 'user.name=Ada', '-c', 'user.email=a@b.c', 'commit', '-q', '--allow-empty', '-m', 'first')
    const [a, b] = [await host('a', repo), await host('b', await folder())]
    const { id } = await start(a.registry, { worktree: { branch: 'cart' } })
    const taken = await b.registry.moves.takeOver(await lost(a.registry, id, 'a'))
    expect(taken).toMatchObject({ wakeable: false, resumable: false })
    expect(taken.warnings.join('\n')).toMatch(/It does not run in the folder of its workspace/)
    await expect(b.registry.prompt(id, { prompt: 'x' }, owner)).rejects.toMatchObject({ code: 'session_ended' })
  },
)

test.each(['planned', 'an empty folder', 'whole'] as const)(
  '17.6 a host that is killed while it creates the worktree of a session leaves none at its next start: %s',
  { ...needs('git') },
  async (done) => {
    const repositories = await Promise.all([folder(), folder()])
    for (const each of repositories) {
      git(each, 'init', '-q', '-b', 'main')
      git(each, '-c', 'user.name=Ada', '-c', 'user.email=a@b.c', 'commit', '-q', '--allow-empty', '-m', 'first')
    }
    const [one, two] = repositories
    const a = await host('a', one)
    const { id } = await start(a.registry, { worktree: { branch: 'cart' } })
    let planned: Worktree | undefined
    const isKilled = (session: StoredSession): 'before' | 'after' | 'no' => {
      planned = session.plannedWorktree ?? planned
      if (planned === undefined || (done === 'whole' && session.takingUp === true)) return 'no'
      return done === 'whole' ? 'before' : 'after'
    }
    let onKilled = (): void => undefined
    const killed = new Promise<void>((resolve) => (onKilled = resolve))
    const b = await host('b', two, { saved: isKilled, onKilled })
    void b.registry.moves.takeOver(await lost(a.registry, id, 'a'))
    await killed
    const { path = '', branch = '' } = planned ?? {}
    expect(existsSync(path)).toBe(done === 'whole')
    if (done === 'an empty folder') await mkdir(path)

    const problems: string[] = []
    const again = await host('b', two, { home: b.home, onProblem: (problem) => void problems.push(problem) })
    expect(problems).toEqual([`The take-over of session ${id} had not ended: nothing of it is kept`])
    expect(existsSync(path)).toBe(false)
    expect(git(two, 'worktree', 'list').split('\n')).toHaveLength(1)
    expect(git(two, 'branch', '--list', branch)).toBe('')
    const taken = await again.registry.moves.takeOver(await lost(a.registry, id, 'a'))
    expect(await turn(again.registry, taken.id, 'echo on')).toMatchObject({ reason: 'end_turn' })
  },
)

test('17.6 a copy of a home leaves the worktree that the first one goes on with', { ...needs('git') }, async () => {
  const repositories = await Promise.all([folder(), folder()])
  for (const each of repositories) {
    git(each, 'init', '-q', '-b', 'main')
    git(each, '-c', 'user.name=Ada', '-c', 'user.email=a@b.c', 'commit', '-q', '--allow-empty', '-m', 'first')
  }
  const [one, two] = repositories
  const a = await host('a', one)
  const { id } = await start(a.registry, { worktree: { branch: 'cart' } })
  const copy = await temporaryHome()
  let home = ''
  let isPlanned = false
  const b = await host('b', two, {
    saved: ({ plannedWorktree }) => {
      if (isPlanned && plannedWorktree === undefined) cpSync(home, copy, { recursive: true })
      isPlanned = plannedWorktree !== undefined
      return 'no'
    },
  })
  home = b.home
  const { cwd } = await b.registry.moves.takeOver(await lost(a.registry, id, 'a'))
  const problems: string[] = []
  await host('b', two, { home: copy, onProblem: (problem) => void problems.push(problem) })
  expect(problems[0]).toMatch(/is kept: It is not in the folder of worktrees/)
  expect(existsSync(cwd)).toBe(true)
  expect(git(cwd, 'status', '--short')).toBe('')
})

test('17.6 with real agents: a host that is suspended ends an agent that answers no cancel, in bounded time', async () => {
  const a = await host('a', await folder())
  const { id } = await start(a.registry)
  await a.registry.prompt(id, { prompt: 'hang!' }, owner)
  expect(await a.registry.moves.suspend('The lease of this host ran out', 30_000)).toEqual({ ended: [id], running: [] })
  expect(await pidOf(a.registry, id)).toBe(false)
  a.registry.moves.release()
  expect(await turn(a.registry, id, 'echo back')).toMatchObject({ reason: 'end_turn' })
})
