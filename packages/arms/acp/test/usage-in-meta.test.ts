import { connectAcp } from '@agentproto/acp'
import { expect, onTestFinished, test } from 'vitest'
import { fixture, recorder } from './connecting.ts'

const places = { input_tokens: 'quota.token_count.input_tokens', output_tokens: 'quota.token_count.output_tokens' }
const quota = (input: unknown, output: unknown) => ({
  _meta: { quota: { token_count: { input_tokens: input, output_tokens: output }, model_usage: [] } },
})

/** What the turn is said to have used, when the agent answers so. */
async function usageOf(usage: unknown, answer: object): Promise<unknown> {
  const connection = await connectAcp({ ...fixture('meta'), profile: { usage } })
  onTestFinished(async () => void (await connection.close()))
  const sink = recorder()
  const session = await connection.openSession(
    { cwd: process.cwd(), additionalDirectories: [], mcpServers: [], origin: { how: 'new' } },
    sink,
  )
  await session.send([{ type: 'text', text: JSON.stringify(answer) }])
  const [end] = sink.ofType('turn-end')
  expect(end).toMatchObject({ reason: 'end_turn' })
  return end?.usage
}

test('13.5 tokens that an agent reports in `_meta` are read where its manifest says', async () => {
  expect(await usageOf(places, quota(120, 30))).toEqual({ inputTokens: 120, outputTokens: 30 })
})

test('13.5 without a place, or with nothing there, no tokens are reported', async () => {
  for (const profile of [undefined, null, 'quota', [], { input_tokens: 7 }, { input_tokens: '' }])
    expect(await usageOf(profile, quota(120, 30))).toBeUndefined()
  for (const answer of [{}, { _meta: null }, { _meta: { quota: [] } }, quota('many', null)])
    expect(await usageOf(places, answer)).toBeUndefined()
  expect(
    await usageOf({ input_tokens: '__proto__.x', output_tokens: 'constructor.length' }, { _meta: {} }),
  ).toBeUndefined()
})

test('13.5 what ACP’s own usage says is preferred', async () => {
  const answer = { ...quota(120, 30), usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } }
  expect(await usageOf(places, answer)).toEqual({ inputTokens: 1, outputTokens: 2, totalTokens: 3 })
})
