import { Svcm } from '@nats-io/services'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { openCallService } from '../src/calls/call-service.ts'
import { callSubject } from '../src/subjects.ts'
import { startNats } from './support/nats-servers.ts'
import { connected } from './support/two-hosts.ts'

test('17.8 the tools of NATS list each host as a service, with its calls', needs('nats-server'), async () => {
  const server = await startNats()
  const received: string[] = []
  for (const host of ['laptop', 'tower']) {
    const receive = ({ data }: { readonly data: Uint8Array }): void =>
      void received.push(`${host}: ${Buffer.from(data).toString()}`)
    await openCallService({
      nats: await connected(server),
      host,
      receive,
      onProblem: (problem) => received.push(problem),
    })
  }
  const client = await connected(server)
  client.publish(callSubject('tower'), Buffer.from('hello'))
  await expect.poll(() => received).toEqual(['tower: hello'])
  const stats = []
  for await (const each of await new Svcm(client)
    .client({ strategy: 'count', maxMessages: 2, maxWait: 5_000 })
    .stats('agentproto'))
    stats.push([each.metadata?.['host'], each.endpoints?.map((endpoint) => endpoint.num_requests)])
  expect(stats.toSorted((a, b) => String(a[0]).localeCompare(String(b[0])))).toEqual([
    ['laptop', [0]],
    ['tower', [1]],
  ])
})
