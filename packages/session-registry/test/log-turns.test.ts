import type { EventBatch, SharedLog } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { LogTurns } from '../src/replay/log-turns.js'
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
  const turns = new LogTurns()
  const both = await Promise.all([turns.of(logOf('a')), turns.of(logOf('a'))])
  expect(both.map((all) => all.map(({ number }) => number))).toEqual([[1], [1]])
  await turns.of(logOf('a'))
  expect(reads).toEqual(['a'])
  await turns.of(logOf('a', { lastSeq: () => Promise.resolve(count + 1) }))
  expect(reads).toEqual(['a', 'a'])
})

test('17.4 the turns of eight logs are kept, and none of a log that could not be read', async () => {
  const { reads, logOf } = await logs()
  const turns = new LogTurns()
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
