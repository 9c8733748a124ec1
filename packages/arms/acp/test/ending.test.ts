import { findMarkedProcesses } from '@agentproto/subprocess'
import { connectAcp } from '@agentproto/acp'
import { expect, test } from 'vitest'
import { fixture, recorder } from './connecting.ts'

const opening = { cwd: process.cwd(), additionalDirectories: [], mcpServers: [], origin: { how: 'new' } } as const

test('F22 closing a stubborn agent with a grandchild in another session leaves nothing, in a bounded time', async () => {
  const options = fixture('turns')
  const connection = await connectAcp(options)
  const sink = recorder()
  const session = await connection.openSession(opening, sink)
  const turn = session.send([{ type: 'text', text: 'stubborn' }])
  await expect.poll(() => sink.text()).not.toBe('')
  const found = findMarkedProcesses(options.launch.marker).map(({ pid }) => pid)
  expect(new Set(found)).toEqual(new Set(JSON.parse(sink.text()) as number[]))
  const before = performance.now()
  expect(await connection.close()).toEqual({ signal: 'SIGKILL' })
  expect(performance.now() - before).toBeLessThan(10_000)
  expect(findMarkedProcesses(options.launch.marker)).toEqual([])
  await turn
  expect(sink.signals.at(-1)).toEqual({ type: 'turn-end', reason: 'cancelled' })
})

test('after we closed it, an agent has not ended by itself', async () => {
  const connection = await connectAcp(fixture('echo'))
  await connection.close()
  const first = await Promise.race([
    connection.ended,
    new Promise((resolve) => setTimeout(() => resolve('pending'), 50)),
  ])
  expect(first).toBe('pending')
})

test('F33 a clean exit without a turn is reported as one', async () => {
  const connection = await connectAcp(fixture('turns'))
  process.kill(connection.process.pid, 'SIGTERM')
  expect(await connection.ended).toEqual({
    cause: 'exit',
    duringTurn: false,
    signal: 'SIGTERM',
    message: 'The agent was ended by SIGTERM',
    stderrTail: '',
  })
  await connection.close()
})

test('an agent that answers and leaves at once has not crashed in its turn', async () => {
  const starts = Array.from({ length: 10 }, async () => {
    const connection = await connectAcp(fixture('turns'))
    const sink = recorder()
    const session = await connection.openSession(opening, sink)
    await session.send([{ type: 'text', text: 'leave' }])
    expect(sink.signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'end_turn' })
    expect(await connection.ended).toMatchObject({ cause: 'exit', exitCode: 0, duringTurn: false })
  })
  await Promise.all(starts)
})
