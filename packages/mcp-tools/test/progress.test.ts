import { expect, test } from 'vitest'
import { connected, ERAS } from './connected.ts'

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

interface Progress {
  readonly progress: number
  readonly message?: string | undefined
}

test.each(ERAS)('F73 who waits for a turn and asks for it hears what goes on, a %s client', async (era) => {
  const { client, tool, sessions, clock } = await connected(era)
  await tool('start_agent_session', { adapter: 'demo', prompt: 'hang' })
  const heard: Progress[] = []
  const waiting = client.callTool(
    { name: 'wait_agent_turn', arguments: { sessionId: 's1', turn: 1 } },
    { onprogress: (progress) => heard.push(progress) },
  )
  // The turn's end, the limit of the wait, and the heartbeat.
  await until(() => clock.pending === 2)
  sessions.log('s1').append({ type: 'tool-call', toolCallId: 'c1', title: 'Write a.txt' })
  await until(() => heard.length === 1)
  // Within a second of the last word there is no other.
  sessions.log('s1').append({ type: 'text-delta', text: 'a' })
  sessions.log('s1').append({ type: 'text-delta', text: 'b' })
  await new Promise((resolve) => setImmediate(resolve))
  clock.advance(1_000)
  sessions.log('s1').append({ type: 'thought', text: 'c' })
  await until(() => heard.length === 2)
  clock.advance(19_000)
  await until(() => heard.length === 3)
  sessions.endTurn('s1')
  expect((await waiting).structuredContent).toMatchObject({ state: 'ended' })
  expect(heard.map(({ progress }) => progress)).toEqual([1, 2, 3])
  expect(heard.map(({ message }) => message?.replace(/\d+/, 'n'))).toEqual([
    'tool: Write a.txt (n events)',
    'thinking (n events)',
    'waiting (n events)',
  ])
  await until(() => clock.pending === 0)
})
