import { JetStreamApiError, type JetStreamManager } from '@nats-io/jetstream'
import { expect, test, vi } from 'vitest'
import { growReplicas } from '../src/cluster/grow-replicas.js'

const refused = () =>
  new JetStreamApiError({ code: 503, err_code: 10_008, description: 'JetStream system temporarily unavailable' })

/** JetStream while another gateway does the same: it refuses, and its record says so some looks later. */
function managerThat(grows: { readonly afterLooks: number }) {
  let looks = 0
  const update = vi.fn<() => Promise<never>>(() => Promise.reject(refused()))
  const info = () => Promise.resolve({ config: { num_replicas: looks++ < grows.afterLooks ? 1 : 3 } })
  return { update, manager: { streams: { info, update } } as unknown as JetStreamManager }
}

test('17.3 a gateway whose change is refused because another one makes it has three replicas, without a problem', async () => {
  const problems: string[] = []
  const { manager, update } = managerThat({ afterLooks: 4 })
  expect(await growReplicas(manager, (problem) => problems.push(problem))).toBe(3)
  expect(problems).toEqual([])
  expect(update).toHaveBeenCalledOnce()
})

test('17.3 a change that stays refused is reported, after a bounded number of looks', async () => {
  const problems: string[] = []
  const { manager } = managerThat({ afterLooks: Infinity })
  expect(await growReplicas(manager, (problem) => problems.push(problem))).toBe(1)
  expect(problems).toEqual([expect.stringContaining('temporarily unavailable')])
})
