import { AgentprotoError, type TurnResult } from '@agentproto/contracts'
import type { PromptRequest } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { ManualClock, settled } from '../../session-registry/test/fixtures/manual-clock.ts'
import { scripted } from '../../session-registry/test/fixtures/scripted-agent.ts'
import { memoryRegistry, owner as OWNER } from '../../session-registry/test/fixtures/test-registry.ts'
import { answerPrompt } from '../src/calls/answer-prompt.ts'
import type { SharedServices } from '../src/calls/places.ts'
import { METHODS } from '../src/calls/methods.ts'
import { startNats } from './support/nats-servers.ts'
import { servicesOf, startHost } from './support/two-hosts.ts'

const RESULT = { number: 3, reason: 'end_turn', text: 'done' } as unknown as TurnResult

/** A session whose turn ends when the test says so. */
function oneTurn() {
  let end: (result: TurnResult) => void = () => undefined
  let fail: (error: AgentprotoError) => void = () => undefined
  const ended = new Promise<TurnResult>((resolve, reject) => {
    end = resolve
    fail = reject
  })
  const waits: AbortSignal[] = []
  const sessions = {
    prompt: async () => ({ turn: 3 }),
    waitTurn: (_id: string, _turn: number, signal: AbortSignal) => {
      waits.push(signal)
      signal.addEventListener('abort', () => fail(new AgentprotoError('cancelled', 'Cancelled')))
      return ended
    },
  } as unknown as SharedServices['sessions']
  const clock = new ManualClock()
  const answer = (request: PromptRequest) => answerPrompt({ sessions }, ['s_1', request], { by: OWNER, clock })
  return { answer, clock, waits, end, fail }
}

test('17.2 a turn that ends at once is answered with its prompt', async () => {
  const { answer, clock, end } = oneTurn()
  const answered = answer({ prompt: 'x', wait: true })
  await clock.advance(24)
  end(RESULT)
  expect(await answered).toEqual({ turn: 3, result: RESULT })
  expect(clock.pending).toBe(0)
})

test('17.2 a turn that lasts is named soon, and is not waited for any longer', async () => {
  const { answer, clock, waits } = oneTurn()
  const answered = answer({ prompt: 'x', wait: true })
  await settled()
  await clock.advance(25)
  expect(await answered).toEqual({ turn: 3 })
  expect(waits.map(({ aborted }) => aborted)).toEqual([true])
})

test('17.2 nothing is waited for that the caller does not wait for', async () => {
  const { answer, clock, waits } = oneTurn()
  expect(await answer({ prompt: 'x' })).toEqual({ turn: 3 })
  expect(await answer({ prompt: 'x', wait: false })).toEqual({ turn: 3 })
  expect([waits.length, clock.pending]).toEqual([0, 0])
})

test('17.2 a prompt that was accepted is answered with its turn, also when the wait for it fails', async () => {
  const { answer, clock, fail } = oneTurn()
  const answered = answer({ prompt: 'x', wait: true })
  fail(new AgentprotoError('turn_not_found', 'There is no such turn'))
  expect(await answered).toEqual({ turn: 3 })
  expect(clock.pending).toBe(0)
})

test('17.2 a prompt that is refused is not waited for', async () => {
  const { clock, waits } = oneTurn()
  const refused = async (): Promise<never> => Promise.reject(new AgentprotoError('turn_in_progress', 'Busy'))
  const sessions = { prompt: refused } as unknown as SharedServices['sessions']
  const call = { by: OWNER, clock }
  const answered = answerPrompt({ sessions }, ['s_1', { prompt: 'x', wait: true }], call)
  await expect(answered).rejects.toMatchObject({ code: 'turn_in_progress' })
  expect([waits.length, clock.pending]).toEqual([0, 0])
})

test('17.2 another host gets the turn and its end with one call', needs('nats-server'), async () => {
  const { registry } = await memoryRegistry(scripted())
  const server = await startNats()
  // Its timers stand still, so that no slow machine makes a turn of this test a long one.
  const clock = Object.assign(new ManualClock(), { now: () => Date.now() })
  await startHost(server, { name: 'a', own: servicesOf(registry), clock })
  const b = await startHost(server, { name: 'b', own: servicesOf(registry) })
  const { id } = await registry.spawn({ adapter: 'fake' }, OWNER)
  const prompt = (request: PromptRequest) => b.caller.to('a').value('sessions.prompt', [id, request], { by: OWNER })
  const { turn, result } = await prompt({ prompt: 'hello', wait: true })
  expect(result).toEqual(await registry.waitTurn(id, turn))
  expect(result?.text).toBe('echo: hello')
  expect(await prompt({ prompt: 'again' })).toEqual({ turn: turn + 1 })
})

test('17.2 the end of a turn is checked where it arrives, and may be absent', () => {
  const { result } = METHODS['sessions.prompt']
  expect(result({ turn: 1 })).toBe(true)
  expect(result({ turn: 1, result: { text: 'no turn' } })).toBe(false)
})
