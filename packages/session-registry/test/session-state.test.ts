import { type Session, type SessionStateName, STOP_REASONS, type StopReason, summaryOf } from '@agentproto/contracts'
import type { SessionFilter } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { settled } from './fixtures/manual-clock.js'
import { permission } from './fixtures/permission-requests.js'
import { echo, type Script, scripted } from './fixtures/scripted-agent.js'
import { storedSession } from './fixtures/stored-session.js'
import {
  fileRegistry,
  memoryRegistry,
  owner,
  resumableAdapters as adapters,
  temporaryHome,
} from './fixtures/test-registry.js'

const canResume = { resume: true }
const IDLE_MS = 10 * 60_000

/** A session whose gateway was stopped, and how the next gateway starts on the same home. */
async function sleeping() {
  const home = await temporaryHome()
  const options = { ...scripted(echo, canResume), adapters }
  const again = () => fileRegistry(home, options)
  const first = await again()
  const { id } = await first.spawn({ adapter: 'fake' }, owner)
  await first.close()
  return { id, again }
}

test('12.B4 a kill of a person or a budget is final for prompts, and the error names resume', async () => {
  for (const reason of [undefined, 'budget_exceeded', 'loop_detected', 'max_iterations'] as const) {
    const { startAgent, agents } = scripted(echo, canResume)
    const { registry } = await memoryRegistry({ startAgent, adapters })
    const { id } = await registry.spawn({ adapter: 'fake' }, owner)
    await registry.kill(id, owner, reason)
    expect(await registry.get(id)).toMatchObject({ state: 'ended', resumable: true, wakeable: false })
    for (const whenBusy of ['reject', 'queue', 'interrupt'] as const)
      await expect(registry.prompt(id, { prompt: 'x', whenBusy }, owner)).rejects.toMatchObject({
        code: 'session_ended',
        message: expect.stringContaining(`sessions resume ${id}`),
      })
    expect(agents).toHaveLength(1)
    expect(await registry.resume(id, {}, owner)).toMatchObject({ status: 'running', state: 'idle' })
    const { turn } = await registry.prompt(id, { prompt: 'again' }, owner)
    expect(await registry.waitTurn(id, turn)).toMatchObject({ text: 'echo: again' })
  }
})

test('12.B4 a session that sleeps is woken by a prompt, also after its gateway was stopped or is gone', async () => {
  const { id, again } = await sleeping()
  const second = await again()
  expect(await second.get(id)).toMatchObject({ state: 'asleep', wakeable: true, stopReason: 'shutdown' })
  await second.waitTurn(id, (await second.prompt(id, { prompt: 'one' }, owner)).turn)
  // A gateway that is killed writes nothing more: the next one finds the session live.
  const third = await again()
  expect(await third.get(id)).toMatchObject({ state: 'asleep', wakeable: true, status: 'error' })
  const { turn } = await third.prompt(id, { prompt: 'two' }, owner)
  expect(await third.waitTurn(id, turn)).toMatchObject({ text: 'echo: two' })
})

test('12.B4 a kill while the session sleeps is final too, and is still known after a restart', async () => {
  const { id, again } = await sleeping()
  const second = await again()
  expect(await second.kill(id, owner)).toEqual({ ok: false })
  const killed = { state: 'ended', wakeable: false, killedAt: expect.any(String) }
  expect(await second.get(id)).toMatchObject(killed)
  await expect(second.prompt(id, { prompt: 'x' }, owner)).rejects.toMatchObject({ code: 'session_ended' })
  await second.close()
  const third = await again()
  expect(await third.get(id)).toMatchObject(killed)
  await third.archive.repair(id, { dryRun: false }, owner)
  expect(await third.get(id)).toMatchObject(killed)
  await expect(third.prompt(id, { prompt: 'x' }, owner)).rejects.toMatchObject({ code: 'session_ended' })
  expect(await third.resume(id, {}, owner)).not.toHaveProperty('killedAt')
})

test('12.B4 a kill that comes between a prompt and its resume wins', async () => {
  const { startAgent, agents } = scripted(echo, canResume)
  let resolve = (): void => undefined
  let isSlow = false
  const workspaces = {
    resolve: async () => {
      if (isSlow) await new Promise<void>((go) => (resolve = go))
      return { cwd: '/tmp', workspaceSlug: 'default', warnings: [] }
    },
    enclosing: () => Promise.resolve([]),
  }
  const { registry, clock } = await memoryRegistry({ startAgent, adapters, workspaces })
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await clock.advance(IDLE_MS)
  isSlow = true
  const prompted = registry.prompt(id, { prompt: 'x' }, owner)
  await settled()
  await registry.kill(id, owner)
  resolve()
  await expect(prompted).rejects.toMatchObject({ code: 'session_ended' })
  expect(agents).toHaveLength(1)
})

test('12.B4 the state is one word, in the descriptor, in the list and as its filter', async () => {
  const script: Script = async ({ text, emit, ask, cancelled }) => {
    if (text === 'ask') await ask(permission())
    if (text === 'long') await cancelled
    await emit({ type: 'turn-end', reason: 'end_turn' })
  }
  const { startAgent, agents } = scripted(script, canResume)
  const { registry, clock } = await memoryRegistry({ startAgent, adapters })
  const start = async (prompt?: string): Promise<string> =>
    (await registry.spawn({ adapter: 'fake', ...(prompt === undefined ? {} : { prompt }) }, owner)).id
  const asleep = await start()
  await clock.advance(IDLE_MS)
  const [idle, busy, waiting] = [await start(), await start('long'), await start('ask')]
  const [ended, failed] = [await start(), await start()]
  await registry.kill(ended, owner)
  agents.at(-1)?.die({ exitCode: 7 })
  await settled()
  const expected: Partial<Record<SessionStateName, string>> = { asleep, idle, busy, waiting, ended, failed }
  for (const [state, id] of Object.entries(expected) as [SessionStateName, string][]) {
    expect(await registry.get(id)).toMatchObject({ state })
    expect((await registry.list({ state } satisfies SessionFilter)).sessions.map((session) => session.id)).toEqual([id])
  }
  expect((await registry.list({ state: 'starting' })).sessions).toEqual([])
})

test('12.B4 a session whose time is up while it sleeps has ended, also for the filter', async () => {
  const { registry, clock } = await memoryRegistry({ ...scripted(echo, canResume), adapters })
  const { id } = await registry.spawn({ adapter: 'fake', ttlSeconds: 1_200 }, owner)
  await clock.advance(IDLE_MS)
  expect((await registry.list({ state: 'asleep' })).sessions).toMatchObject([{ id, wakeable: true }])
  await clock.advance(IDLE_MS)
  expect((await registry.list({ state: 'asleep' })).sessions).toEqual([])
  expect((await registry.list({ state: 'ended' })).sessions).toMatchObject([{ id, wakeable: false, resumable: false }])
})

test('14.2.5 the list leaves out what was not active since a time, and what ended before one, and counts the latter', async () => {
  const { registry, clock } = await memoryRegistry(scripted())
  const start = async (label: string): Promise<string> => (await registry.spawn({ adapter: 'fake', label }, owner)).id
  const now = (): string => new Date(clock.now()).toISOString()
  const [, over, later] = [await start('works'), await start('over'), await start('later')]
  await registry.kill(over, owner)
  await clock.advance(1_000)
  const since = now()
  await registry.kill(later, owner)
  const labels = async (filter: SessionFilter): Promise<unknown> => {
    const { sessions, hidden } = await registry.list(filter)
    return { labels: sessions.map(({ label = '' }) => label).toSorted((a, b) => a.localeCompare(b)), hidden }
  }
  expect(await labels({})).toEqual({ labels: ['later', 'over', 'works'], hidden: undefined })
  expect(await labels({ endedSince: since })).toEqual({ labels: ['later', 'works'], hidden: 1 })
  expect(await labels({ endedSince: since, label: 'over' })).toEqual({ labels: [], hidden: 1 })
  expect(await labels({ endedSince: since, label: 'works' })).toEqual({ labels: ['works'], hidden: 0 })
  await clock.advance(1_000)
  const fresh = await start('fresh')
  const active = await registry.list({ since: now() })
  expect(active.sessions.map(({ id }) => id)).toEqual([fresh])
  const page = await registry.list({ endedSince: since, limit: 1 })
  expect([page.hidden, page.nextCursor === undefined]).toEqual([1, false])
  const next = await registry.list({ endedSince: since, limit: 1, after: page.nextCursor })
  expect(next.hidden).toBeUndefined()
})

test('12.B4 every end has a state, and one that a person, a budget or a hook decided is never woken', () => {
  const stateOf = (stopReason: StopReason, resumable: boolean): string => {
    const { state, attachable, wakeable } = summaryOf(record({ status: 'killed', stopReason, resumable }))
    return `${state}${attachable ? ' attachable' : ''}${wakeable ? ' wakeable' : ''}`
  }
  const rest = { completed: 'asleep wakeable', idle: 'asleep wakeable', shutdown: 'asleep wakeable' }
  const failed = { timeout: 'failed wakeable', error: 'failed wakeable', agent_crashed: 'failed wakeable' }
  const byReason = Object.fromEntries(STOP_REASONS.map((reason) => [reason, stateOf(reason, true)]))
  const decided = [
    'user_canceled',
    'max_iterations',
    'loop_detected',
    'budget_exceeded',
    'hook_stopped',
    'expired',
    'moved',
  ]
  expect(byReason).toEqual({ ...Object.fromEntries(decided.map((reason) => [reason, 'ended'])), ...rest, ...failed })
  expect(new Set(STOP_REASONS.map((reason) => stateOf(reason, false)))).toEqual(new Set(['ended', 'failed']))
})

const record = (fields: Partial<Session>): Session => ({ ...storedSession.session, ...fields })
