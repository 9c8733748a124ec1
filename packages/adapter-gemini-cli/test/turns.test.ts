import { randomUUID } from 'node:crypto'
import { proprietaryArm } from '@agentproto/arm-proprietary'
import { RecordingSink } from '@agentproto/arm-testing'
import { systemClock } from '@agentproto/contracts'
import { DEFAULT_ARM_LIMITS, type SessionOrigin } from '@agentproto/contracts/agent'
import { expect, onTestFinished, test } from 'vitest'
import { fakeGemini, profile } from './connecting.ts'

async function open(origin: SessionOrigin = { how: 'new' }) {
  const launch = fakeGemini()
  const resume = origin.how === 'new' ? {} : { resume: origin.agentSessionId }
  const connection = await proprietaryArm.connect({
    launch,
    limits: DEFAULT_ARM_LIMITS,
    clock: systemClock,
    signal: new AbortController().signal,
    client: { name: 'test', version: '0' },
    profile: { ...profile, ...resume },
  })
  onTestFinished(async () => void (await connection.close()))
  const sink = new RecordingSink()
  const session = await connection.openSession(
    { cwd: launch.cwd, additionalDirectories: [], mcpServers: [], origin },
    sink,
  )
  const say = async (text: string) => {
    const from = sink.signals.length
    await session.send([{ type: 'text', text }])
    return sink.signals.slice(from)
  }
  return { session, sink, say }
}

test('a conversation has an id from its start, and a later run continues it by that id', async () => {
  const first = await open()
  const { agentSessionId } = first.session
  expect(agentSessionId).toMatch(/^[0-9a-f-]{36}$/)
  await first.say('echo one')
  const second = await open({ how: 'resume', agentSessionId })
  expect(second.session.agentSessionId).toBe(agentSessionId)
  await second.say('remember')
  expect(second.sink.text).toBe('echo one|remember')
})

test('F55 a conversation that does not exist is an error, never a new one', async () => {
  const { say } = await open({ how: 'resume', agentSessionId: randomUUID() })
  const signals = await say('remember')
  expect(signals.slice(-2)).toMatchObject([
    { type: 'error', message: expect.stringContaining('Invalid session identifier') },
    { type: 'turn-end', reason: 'error' },
  ])
})

test('a conversation whose first turn was cancelled before it was stored starts again with its id', async () => {
  const { session, say, sink } = await open()
  const sent = session.send([{ type: 'text', text: 'hang' }])
  await sink.until(() => sink.text.includes('working'))
  await session.cancel()
  await sent
  await say('echo again')
  await say('remember')
  expect(sink.text).toBe('workingecho againecho again|remember')
})

test('F15 after a cancel whose process ends late, only the next turn gets an answer', async () => {
  const { session, say, sink } = await open()
  await say('echo one')
  const sent = session.send([{ type: 'text', text: 'stubborn' }])
  await sink.until(() => /\d/.test(sink.text))
  await session.cancel()
  await sent
  // It ignores SIGTERM: the turn is over a second after the cancel, its process only after the grace.
  const next = await say('echo next')
  expect(next.filter(({ type }) => type === 'text-delta' || type === 'turn-end')).toMatchObject([
    { type: 'text-delta', text: 'echo next' },
    { type: 'turn-end', reason: 'end_turn' },
  ])
})

test('usage and model are reported', async () => {
  const { say } = await open()
  const signals = await say('echo hi')
  expect(signals).toContainEqual({ type: 'config', config: { modelId: 'auto' } })
  expect(signals.at(-1)).toMatchObject({ type: 'turn-end', usage: { inputTokens: 2, outputTokens: 1, totalTokens: 3 } })
})
