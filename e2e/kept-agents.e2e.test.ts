import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionEvent } from '@agentproto/client'
import { createGateway } from '@agentproto/runtime'
import { expect, onTestFinished, test } from 'vitest'
import { type Daemon, startDaemon } from './support/daemon.js'
import { agentsIn, allEvents, endedTurns, keepingHome, ofType, textIn } from './support/kept-agents.js'
import { newMark } from './support/marked-processes.js'
import { allowOnce, pendingPermission } from './support/pending-request.js'
import { temporaryFolder } from './support/temporary-folder.js'

test('16.3 kill -9 in the middle of a turn with a pending permission and a queued prompt: the next gateway goes on', async () => {
  const home = keepingHome('kept')
  const mark = newMark()
  const env = { AGENTPROTO_DEMO_HOME: join(home, 'demo'), ...mark.env }
  const first = await startDaemon({ home, env })
  const { id } = await first.client.sessions.start({ adapter: 'demo', cwd: home })
  const calm = await uninterrupted(first, home)
  await first.client.sessions.prompt(id, { prompt: PROMPT })
  const asked = await pendingPermission(first.client, id)
  await first.client.sessions.prompt(id, { prompt: 'and now this', whenBusy: 'queue' })
  const [agent] = agentsIn(mark.living(), id)
  expect(await first.client.sessions.get(id)).toMatchObject({ kept: true, turn: { number: 1 } })
  await first.crash()
  expect(agentsIn(mark.living(), id)).toEqual([agent])

  const { client } = await startDaemon({ home, env })
  expect(agentsIn(mark.living(), id)).toEqual([agent])
  const session = await client.sessions.get(id)
  expect(session).toMatchObject({
    status: 'running',
    kept: true,
    queuedPrompts: 1,
    turn: { number: 1, state: 'awaiting-input' },
  })
  const again = await pendingPermission(client, id)
  expect(again.requestId).toBe(asked.requestId)
  await client.sessions.answer(id, again.requestId, { optionId: allowOnce(again) })
  await expect.poll(() => endedTurns(client, id), { timeout: 20_000 }).toBe(2)
  expect(readFileSync(join(home, 'kept.txt'), 'utf8')).toBe('hello\n')
  const events = await allEvents(client, id)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
  expect(contentOf(events)).toEqual(calm)
  await client.sessions.kill(id)
  expect(agentsIn(mark.living(), id)).toEqual([])
})

test('16.3 killed again and again, also in the middle of a streamed answer: each event is there once', async () => {
  const home = keepingHome('killed-often')
  const mark = newMark()
  const env = { AGENTPROTO_DEMO_HOME: join(home, 'demo'), ...mark.env }
  let daemon = await startDaemon({ home, env })
  const { id } = await daemon.client.sessions.start({ adapter: 'demo', cwd: home })
  await daemon.client.sessions.prompt(id, { prompt: 'stream 3000 5' })
  const [agent] = agentsIn(mark.living(), id)
  for (let kills = 0; kills < 3; kills += 1) {
    const before = (await daemon.client.sessions.get(id)).lastSeq
    await expect.poll(async () => (await daemon.client.sessions.get(id)).lastSeq).toBeGreaterThan(before)
    await daemon.crash()
    daemon = await startDaemon({ home, env })
    expect(agentsIn(mark.living(), id)).toEqual([agent])
  }
  const { client } = daemon
  await expect.poll(() => endedTurns(client, id), { timeout: 60_000 }).toBe(1)
  const events = await allEvents(client, id)
  expect(ofType(events, 'repair')).toHaveLength(0)
  expect(ofType(events, 'turn-end')).toHaveLength(1)
  const { text } = await client.sessions.promptAndWait(id, { prompt: 'stream 3000' })
  expect(textIn(events)).toBe(text)
})

test('16.6 an agent that is killed while no gateway runs: its session is resumed with another one, and nothing is left', async () => {
  const home = keepingHome('agent-gone')
  const mark = newMark()
  const env = { AGENTPROTO_DEMO_HOME: join(home, 'demo'), ...mark.env }
  const first = await startDaemon({ home, env })
  const { id } = await first.client.sessions.start({ adapter: 'demo', cwd: home })
  await first.client.sessions.promptAndWait(id, { prompt: 'remember me' })
  const [agent = ''] = agentsIn(mark.living(), id)
  // The demo agent stores its conversation a moment after the turn.
  await expect.poll(() => storedBy(env.AGENTPROTO_DEMO_HOME)).toContain('remember me')
  await first.crash()
  process.kill(Number.parseInt(agent, 10), 'SIGKILL')

  const { client } = await startDaemon({ home, env })
  await expect.poll(async () => (await client.sessions.get(id)).status, { timeout: 20_000 }).toBe('exited')
  expect(agentsIn(mark.living(), id)).toEqual([])
  await client.sessions.resume(id)
  expect(await client.sessions.get(id)).toMatchObject({ status: 'running', kept: true })
  const { text } = await client.sessions.promptAndWait(id, { prompt: 'recall' })
  expect(text).toContain('remember me')
  await client.sessions.kill(id)
  expect(agentsIn(mark.living(), id)).toEqual([])
})

test('16.5 a gateway that is closed and leaves its agents ends none of them, and the next one goes on', async () => {
  const mark = newMark()
  const folder = temporaryFolder('left')
  const options = {
    home: join(folder, 'home'),
    cwd: folder,
    keeper: true,
    env: { ...process.env, HOME: folder, AGENTPROTO_DEMO_HOME: join(folder, 'demo'), ...mark.env },
  }
  const owner = { type: 'owner', name: 'owner' } as const
  const first = await createGateway(options)
  const { id } = await first.sessions.spawn({ adapter: 'demo', prompt: 'stream 300 10' }, owner)
  const [agent] = agentsIn(mark.living(), id)
  await first.close({ keepAgents: true })
  const second = await createGateway(options)
  onTestFinished(() => second.close())
  expect(agentsIn(mark.living(), id)).toEqual([agent])
  expect(await second.sessions.get(id)).toMatchObject({ status: 'running', kept: true, turn: { number: 1 } })
  expect(await second.sessions.waitTurn(id, 1)).toMatchObject({ reason: 'end_turn' })
  await second.close()
  expect(agentsIn(mark.living(), id)).toEqual([])
})

const PROMPT = 'stream 5; ask kept.txt hello; stream 3'

/** The same turns by a gateway that nothing ends. */
async function uninterrupted({ client }: Daemon, cwd: string): Promise<unknown> {
  const { id } = await client.sessions.start({ adapter: 'demo', cwd })
  await client.sessions.prompt(id, { prompt: PROMPT })
  const asked = await pendingPermission(client, id)
  await client.sessions.prompt(id, { prompt: 'and now this', whenBusy: 'queue' })
  await client.sessions.answer(id, asked.requestId, { optionId: allowOnce(asked) })
  await expect.poll(() => endedTurns(client, id), { timeout: 20_000 }).toBe(2)
  const events = await allEvents(client, id)
  await client.sessions.kill(id)
  return contentOf(events)
}

/** All that the demo agent has stored. */
function storedBy(folder: string): string {
  const entries = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : []
  return entries
    .flatMap((entry) => (entry.isFile() ? [readFileSync(join(entry.parentPath, entry.name), 'utf8')] : []))
    .join('')
}

/** What a log says, without what differs between two sessions: times, ids, and where text is cut. */
function contentOf(events: readonly SessionEvent[]): unknown {
  const content: unknown[] = []
  let text: { turn: number | undefined; text: string } | undefined
  for (const event of events) {
    if (event.type === 'text-delta' && text !== undefined && text.turn === event.turn) text.text += event.text
    else if (event.type === 'text-delta') content.push((text = { turn: event.turn, text: event.text }))
    else {
      text = undefined
      content.push([event.type, event.turn])
    }
  }
  return content
}
