import { jetstreamManager } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { openLogStream } from '../src/log/log-stream.js'
import { startNats } from './support/nats-servers.ts'

test('17.4 the stream of the logs is created once, by hosts that start together', needs('nats-server'), async () => {
  const nats = await connected()
  const problems: string[] = []
  const open = (): Promise<void> =>
    openLogStream({
      cluster: { nats, replicas: 1 },
      maxAgeMs: 3_600_000,
      onProblem: (problem) => problems.push(problem),
    })
  await Promise.all(Array.from({ length: 5 }, open))
  await open()
  const { config } = await (await jetstreamManager(nats)).streams.info('agentproto-log')
  expect(config).toMatchObject({
    subjects: ['agentproto.log.*'],
    storage: 'file',
    max_age: 3_600_000_000_000,
    duplicate_window: 120_000_000_000,
    num_replicas: 1,
  })
  expect(problems).toEqual([])
})

test('17.4 limits of a stream that is there are reported, never changed', needs('nats-server'), async () => {
  const nats = await connected()
  const problems: string[] = []
  const onProblem = (problem: string): number => problems.push(problem)
  await openLogStream({ cluster: { nats, replicas: 1 }, maxBytes: 1_000_000, onProblem })
  await openLogStream({ cluster: { nats, replicas: 3 }, maxBytes: 2_000_000, onProblem })
  const { config } = await (await jetstreamManager(nats)).streams.info('agentproto-log')
  expect(config).toMatchObject({ max_bytes: 1_000_000, num_replicas: 1 })
  expect(problems).toEqual([
    expect.stringContaining('num_replicas 1, not 3'),
    expect.stringContaining('max_bytes 1000000, not 2000000'),
  ])
})

for (const [what, config] of [
  ['keeps only the last messages of a session', { max_msgs_per_subject: 10 }],
  ['is in memory', { storage: 'memory' }],
  ['refuses new events when it is full', { discard: 'new' }],
  ['has other subjects', { subjects: ['agentproto.log.a'] }],
  ['lets its messages be rolled up', { allow_rollup_hdrs: true }],
] as const)
  test(`17.4 a stream that ${what} is refused`, needs('nats-server'), async () => {
    const nats = await connected()
    const { streams } = await jetstreamManager(nats)
    const wanted = { name: 'agentproto-log', subjects: ['agentproto.log.*'], allow_direct: true, ...config }
    await streams.add({ ...wanted, subjects: [...wanted.subjects] })
    const opened = openLogStream({ cluster: { nats, replicas: 1 }, onProblem: () => undefined })
    await expect(opened).rejects.toMatchObject({ code: 'cluster_unsupported' })
  })

async function connected(): Promise<NatsConnection> {
  const { url } = await startNats()
  const nats = await connect({ servers: url })
  onTestFinished(() => nats.close())
  return nats
}
