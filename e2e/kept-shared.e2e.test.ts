import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogPath } from '@agentproto/adapters'
import { createGateway } from '@agentproto/runtime'
import { expect, onTestFinished, test } from 'vitest'
import { type Daemon, startDaemon } from './support/daemon.js'
import { allEvents, endedTurns, keepingHome, numbersOf, ofType, sharedAgentsIn, textIn } from './support/kept-agents.js'
import { newMark } from './support/marked-processes.js'
import { allowOnce, pendingPermission } from './support/pending-request.js'
import { temporaryFolder } from './support/temporary-folder.js'

test('16.3 several sessions in one process: the gateway is killed again and again, and each of them goes on', async () => {
  const home = keepingHome('kept-shared', { adapters: [sharedDemo()] })
  const mark = newMark()
  const env = { AGENTPROTO_DEMO_HOME: join(home, 'demo'), ...mark.env }
  let daemon = await startDaemon({ home, env })
  const start = async (): Promise<string> =>
    (await daemon.client.sessions.start({ adapter: 'demo-shared', cwd: home })).id
  const [streaming, asking, idle, killed] = [await start(), await start(), await start(), await start()]
  const text = await textOfStream(daemon, await start())
  const [agent] = sharedAgentsIn(mark.living())
  await daemon.client.sessions.promptAndWait(idle, { prompt: 'remember me' })
  await daemon.client.sessions.prompt(streaming, { prompt: `stream ${LINES} 5` })
  await daemon.client.sessions.prompt(asking, { prompt: 'stream 5; ask kept.txt hello; stream 3' })
  await daemon.client.sessions.prompt(killed, { prompt: `stream ${LINES} 5` })
  const asked = await pendingPermission(daemon.client, asking)
  await daemon.client.sessions.kill(killed)

  for (let kills = 0; kills < 3; kills += 1) {
    const before = (await daemon.client.sessions.get(streaming)).lastSeq
    await expect.poll(async () => (await daemon.client.sessions.get(streaming)).lastSeq).toBeGreaterThan(before)
    await daemon.crash()
    daemon = await startDaemon({ home, env })
    expect(sharedAgentsIn(mark.living())).toEqual([agent])
    for (const id of [streaming, asking, idle])
      expect(await daemon.client.sessions.get(id)).toMatchObject({ status: 'running', kept: true })
  }

  const { client } = daemon
  const again = await pendingPermission(client, asking)
  expect(again.requestId).toBe(asked.requestId)
  await client.sessions.answer(asking, again.requestId, { optionId: allowOnce(again) })
  await expect.poll(() => endedTurns(client, asking), { timeout: 20_000 }).toBe(1)
  expect(readFileSync(join(home, 'kept.txt'), 'utf8')).toBe('hello\n')
  await expect.poll(() => endedTurns(client, streaming), { timeout: 60_000 }).toBe(1)
  for (const id of [streaming, asking, idle]) {
    const events = await allEvents(client, id)
    expect(events.map(({ seq }) => seq)).toEqual(numbersOf(events))
    expect(ofType(events, 'repair')).toEqual([])
    expect(ofType(events, 'turn-end')).toMatchObject([{ reason: 'end_turn' }])
  }
  expect(textIn(await allEvents(client, streaming))).toBe(text)
  expect((await client.sessions.promptAndWait(idle, { prompt: 'recall' })).text).toContain('remember me')

  const joined = (await client.sessions.start({ adapter: 'demo-shared', cwd: home })).id
  expect((await client.sessions.promptAndWait(joined, { prompt: 'hello' })).reason).toBe('end_turn')
  for (const { id } of (await client.sessions.list({ onlyAlive: true })).sessions) await client.sessions.kill(id)
  expect(sharedAgentsIn(mark.living())).toEqual([])
})

const LINES = 2_000

/** The demo agent with all of its sessions in one process; the folder that contains it. */
function sharedDemo(): string {
  const adapters = temporaryFolder('shared-adapters')
  const folder = join(adapters, 'demo-shared')
  mkdirSync(folder)
  cpSync(join(catalogPath, 'demo/ACP.md'), join(folder, 'ACP.md'))
  const page = readFileSync(new URL('../docs/adapters.md', import.meta.url), 'utf8')
  const [, manifest = ''] = /## Several sessions in one process\n[\s\S]*?```yaml\n(---\n[\s\S]*?)```/.exec(page) ?? []
  writeFileSync(join(folder, 'AGENT-CLI.md'), manifest)
  return adapters
}

/** What the agent streams where nothing is killed. */
async function textOfStream({ client }: Daemon, id: string): Promise<string> {
  const { text } = await client.sessions.promptAndWait(id, { prompt: `stream ${LINES}` })
  await client.sessions.kill(id)
  return text
}

test('16.4 a session that cannot go on does not cost the others their process', async () => {
  const mark = newMark()
  const folder = temporaryFolder('kept-siblings')
  const home = join(folder, 'home')
  const options = {
    home,
    cwd: folder,
    keeper: true,
    adapters: [sharedDemo()],
    env: { ...process.env, HOME: folder, AGENTPROTO_DEMO_HOME: join(folder, 'demo'), ...mark.env },
  }
  const owner = { type: 'owner', name: 'owner' } as const
  const first = await createGateway(options)
  const start = async (prompt: string): Promise<string> =>
    (await first.sessions.spawn({ adapter: 'demo-shared', cwd: folder, prompt }, owner)).id
  const [gone, unreadable] = [await start('stream 500 10'), await start('stream 500 10')]
  const whole = await start('stream 300 10')
  const [agent] = sharedAgentsIn(mark.living())
  await first.close({ keepAgents: true })
  rmSync(join(home, 'sessions', gone), { recursive: true })
  rmSync(join(home, 'sessions.json'), { force: true })
  writeFileSync(join(home, 'sessions', unreadable, 'events.jsonl'), 'garbage\n')

  const second = await createGateway(options)
  onTestFinished(() => second.close())
  expect(sharedAgentsIn(mark.living())).toEqual([agent])
  expect(await second.sessions.get(whole)).toMatchObject({ status: 'running', kept: true })
  expect(await second.sessions.waitTurn(whole, 1)).toMatchObject({ reason: 'end_turn' })
  await second.sessions.kill(whole, owner)
  await second.close()
  expect(sharedAgentsIn(mark.living())).toEqual([])
})
