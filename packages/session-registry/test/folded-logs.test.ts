import { systemClock } from '@agentproto/contracts'
import type { EventBatch, SharedLog } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { FoldedLogs } from '../src/replay/folded-logs.js'
import { logTurns } from '../src/replay/log-turns.js'
import { sessionReplay } from '../src/replay/session-replay.js'
import { allEvents, memoryRegistry, owner } from './fixtures/test-registry.js'
import { scripted } from './fixtures/scripted-agent.js'

/** Logs with the events of one session, and how often each is read from its beginning. */
async function logs() {
  const { registry } = await memoryRegistry(scripted())
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'one' }, owner)
  await registry.waitTurn(id, 1)
  const session = await registry.get(id)
  const { records } = await registry.events(id, 0, 1_000)
  const reads: string[] = []
  const logOf = (name: string, more: Partial<SharedLog> = {}): SharedLog => ({
    session: { ...session, id: name },
    epoch: 1,
    lastSeq: () => Promise.resolve(records.length),
    async *batches(): AsyncGenerator<EventBatch> {
      reads.push(name)
      yield { records }
    },
    follow: () => expect.unreachable(),
    ...more,
  })
  return { reads, logOf, count: (await allEvents(registry, id)).length }
}

test('17.4 the log of a host that is away is read once for its turns, and again when it has grown', async () => {
  const { reads, logOf, count } = await logs()
  const turns = logTurns()
  const both = await Promise.all([turns.of(logOf('a')), turns.of(logOf('a'))])
  expect(both.map((all) => all.map(({ number }) => number))).toEqual([[1], [1]])
  await turns.of(logOf('a'))
  expect(reads).toEqual(['a'])
  await turns.of(logOf('a', { lastSeq: () => Promise.resolve(count + 1) }))
  expect(reads).toEqual(['a', 'a'])
})

test('17.4 the turns of eight logs are kept, and none of a log that could not be read', async () => {
  const { reads, logOf } = await logs()
  const turns = logTurns()
  const names = Array.from({ length: 9 }, (_, at) => `s${at}`)
  for (const name of names) await turns.of(logOf(name))
  await turns.of(logOf('s8'))
  await turns.of(logOf('s0'))
  expect(reads).toEqual([...names, 's0'])
  const broken = logOf('x', {
    // eslint-disable-next-line require-yield
    async *batches(): AsyncGenerator<EventBatch> {
      throw new Error('NATS is away')
    },
  })
  await expect(turns.of(broken)).rejects.toThrow('NATS is away')
  expect(await turns.of(logOf('x'))).toHaveLength(1)
})

test('17.4 a log is read again when its session has another owner, also with as many events', async () => {
  const { reads, logOf } = await logs()
  const turns = logTurns()
  await turns.of(logOf('a'))
  await turns.of(logOf('a', { epoch: 2 }))
  await turns.of(logOf('a', { epoch: 2 }))
  expect(reads).toEqual(['a', 'a'])
})

test('17.4 what is kept of logs has a size together: those that were asked for longest ago are left out', async () => {
  const { reads, logOf } = await logs()
  const folded = new FoldedLogs<string>({
    async fold(log) {
      for await (const _ of log.batches(0));
      return log.session.id
    },
    most: { logs: 100, size: 10 },
    sizeOf: (text) => text.length,
  })
  for (const name of ['1234', '5678', 'ab', '1234', 'c']) await folded.of(logOf(name))
  expect(reads).toEqual(['1234', '5678', 'ab', 'c'])
  await folded.of(logOf('1234'))
  await folded.of(logOf('5678'))
  expect(reads.splice(0)).toEqual(['1234', '5678', 'ab', 'c', '5678'])
  await folded.of(logOf('larger than all'))
  await folded.of(logOf('larger than all'))
  await folded.of(logOf('5678'))
  expect(reads).toEqual(['larger than all', 'larger than all'])
})

test('17.4 the requests of a thousand sessions of lost hosts are read once from their logs', async () => {
  const { reads, logOf } = await logs()
  const replay = sessionReplay({ clock: systemClock })
  const names = Array.from({ length: 1_000 }, (_, at) => `s${at}`)
  for (const name of names) await replay.requests(logOf(name))
  for (const name of names) expect(await replay.requests(logOf(name))).toEqual([])
  expect(reads).toEqual(names)
})
