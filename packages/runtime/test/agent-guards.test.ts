import { AgentprotoError } from '@agentproto/contracts'
import type { AgentGuard } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { AgentGuards } from '../src/agent-guards.js'

const guardOf = (count: number): AgentGuard => ({
  markers: Array.from({ length: count }, (_, at) => `s_${at}`),
  ms: 25_000,
  graceMs: 2_500,
})

/** @param answer of the keeper to each guard */
function guards(answer: (guard: AgentGuard) => boolean) {
  const asked: AgentGuard[] = []
  const problems: string[] = []
  const all = new AgentGuards(
    {
      async guard(guard) {
        asked.push(guard)
        return answer(guard)
      },
    },
    (problem) => void problems.push(problem),
  )
  return { all, asked, problems }
}

test('17.3 of more agents than a keeper guards the first are guarded, and the others are reported once', async () => {
  const { all, asked, problems } = guards(() => true)
  await all.guard(guardOf(4_096))
  expect([all.refused, all.problem, problems]).toEqual([0, undefined, []])
  await all.guard(guardOf(4_099))
  await all.guard(guardOf(4_100))
  expect(asked.at(-1)).toEqual(guardOf(4_096))
  expect(all.refused).toBe(2)
  expect(all.problem).toMatch(/at most 4096 .* and 4 more run$/)
  expect(problems).toEqual([expect.stringMatching(/could run on while another host .* and 3 more run\.$/)])
  await all.guard(guardOf(1))
  expect([all.refused, all.problem]).toEqual([2, undefined])
  expect(problems.at(-1)).toBe('The keeper guards all agents of sessions that may move again.')
})

test('17.3 a keeper that refuses a guard, or is too old for it, is reported', async () => {
  const refusing = guards(() => {
    throw new AgentprotoError('internal', 'The keeper refused an operation', { given: 'invalid_request' })
  })
  await refusing.all.guard(guardOf(1))
  expect(refusing.all.problem).toMatch(/refuses to guard agents/)
  expect([refusing.all.refused, refusing.problems.length]).toEqual([1, 1])
  const earlier = guards(() => false)
  await earlier.all.guard(guardOf(1))
  await earlier.all.guard(guardOf(1))
  expect(earlier.all.problem).toMatch(/started by an earlier agentproto/)
  expect([earlier.all.refused, earlier.problems.length]).toEqual([2, 1])
})

test('17.3 a keeper that does not answer changes nothing: what it heard before counts', async () => {
  const { all, problems } = guards(() => {
    throw new AgentprotoError('keeper_unavailable', 'it does not answer')
  })
  await expect(all.guard(guardOf(1))).rejects.toMatchObject({ code: 'keeper_unavailable' })
  expect([all.refused, all.problem, problems]).toEqual([0, undefined, []])
})
