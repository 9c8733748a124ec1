import { join } from 'node:path'
import type { Client, SessionEvent } from '@agentproto/client'
import { expect, test } from 'vitest'
import { startDaemon } from './support/daemon.js'
import { readEventStream } from './support/event-stream.js'
import { readOnlyDisk, smallDisk, turningReadOnly } from './support/refusing-disk.js'
import { temporaryFolder } from './support/temporary-folder.js'

const FAILED = { code: 'storage_failed' }

test('a disk that fills up during a turn ends the session and not the gateway; with free space again its log is complete', async () => {
  const home = temporaryFolder('full')
  const disk = smallDisk(join(home, '.agentproto'))
  const { client, url, token, pid } = await startDaemon({ home, through: disk.through, env: disk.env })
  const { id } = await client.sessions.start({ adapter: 'demo', cwd: home })
  await client.sessions.prompt(id, { prompt: 'stream 1000000 1' })
  const seen: SessionEvent[] = []
  let isFull = false
  // The stream ends with the session.
  for await (const { event, data } of readEventStream(`${url}/sessions/${id}/events`, { token })) {
    expect(event).not.toBe('gap')
    seen.push(JSON.parse(data) as SessionEvent)
    if (seen.length > 100 && !isFull) {
      isFull = true
      disk.refuse(pid)
    }
  }
  await expect
    .poll(() => client.sessions.get(id))
    .toMatchObject({
      status: 'error',
      stopReason: 'error',
      failure: { summary: expect.stringMatching(disk.says) as string },
      turn: { state: 'idle' },
    })
  await expect(client.sessions.start({ adapter: 'demo', cwd: home })).rejects.toMatchObject(FAILED)
  expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ ok: true })

  disk.take(pid)
  expect((await client.sessions.promptAndWait(id, { prompt: 'again' })).text).toBe('echo: again')
  const logged = await allEvents(client, id)
  expect(logged.map(({ seq }) => seq)).toEqual(logged.map((_, index) => index + 1))
  expect(logged.slice(0, seen.length)).toEqual(seen)
  // Small events may have fitted where a batch did not.
  const types = logged.map(({ type, turn }) => `${type} ${turn ?? '-'}`)
  const end = types.indexOf('error 1')
  expect(types.slice(end, end + 4)).toEqual(['error 1', 'turn-end 1', 'status -', 'session-stopped -'])
  expect(types.filter((type) => type.startsWith('turn-end'))).toEqual(['turn-end 1', 'turn-end 2'])
  expect((await client.sessions.start({ adapter: 'demo', cwd: home })).status).toBe('running')
})

test('a read-only home is refused at once with its path', async () => {
  const home = temporaryFolder('read-only')
  const { through, env, says } = readOnlyDisk(join(home, '.agentproto'))
  const refused = startDaemon({ home, through, env }).catch((error: unknown) => String(error))
  const said = await refused
  expect(said).toMatch(/The home cannot be written/)
  expect(said).toMatch(says)
  expect(said).toContain(env['AGENTPROTO_HOME'] ?? join(home, '.agentproto'))
})

test('a gateway whose home becomes read-only refuses changes, serves its data, and loses nothing', async () => {
  const home = temporaryFolder('turned')
  const disk = turningReadOnly(join(home, '.agentproto'))
  const first = await startDaemon({ home, keeper: false, through: disk.through, env: disk.env })
  const { id } = await first.client.sessions.start({ adapter: 'demo', cwd: home })
  await first.client.sessions.promptAndWait(id, { prompt: 'one' })
  // The folder is recorded after the turn has ended.
  await expect
    .poll(async () => (await allEvents(first.client, id)).at(-1))
    .toMatchObject({ type: 'checkpoint', turn: 1 })
  const before = await allEvents(first.client, id)
  disk.refuse(first.pid)
  const refused = first.client.sessions.start({ adapter: 'demo', cwd: home })
  await expect(refused).rejects.toMatchObject({ ...FAILED, message: expect.stringMatching(disk.says) as string })
  expect(await allEvents(first.client, id)).toEqual(before)
  expect((await first.client.sessions.list()).sessions.map((session) => session.id)).toContain(id)
  await first.crash()

  const second = await startDaemon({ home })
  const after = await allEvents(second.client, id)
  expect(after.slice(0, before.length)).toEqual(before)
  expect(after.at(-1)).toMatchObject({ type: 'session-stopped', stopReason: 'agent_crashed' })
  expect((await second.client.sessions.promptAndWait(id, { prompt: 'two' })).text).toBe('echo: two')
})

async function allEvents(client: Client, id: string): Promise<readonly SessionEvent[]> {
  const all: SessionEvent[] = []
  for (;;) {
    const { events } = await client.sessions.eventsPage(id, all.at(-1)?.seq ?? 0)
    if (events.length === 0) return all
    all.push(...events)
  }
}
