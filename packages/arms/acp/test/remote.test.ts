import { expect, test } from 'vitest'
import { open, textOf } from './connecting-remote.ts'

for (const numbered of [true, false]) {
  const what = numbered ? 'a gateway' : 'an agent'

  test(`${what} behind a WebSocket answers two turns, and has no process`, async () => {
    const { say, connection, agent } = await open({ numbered })
    expect(connection.process).toBeUndefined()
    expect(connection.info).toMatchObject({ name: 'remote', version: '1' })
    expect(textOf(await say('echo one'))).toBe('echo one')
    expect(textOf(await say('echo two'))).toBe('echo two')
    const [hello] = agent.sent('initialize')
    expect(hello).toMatchObject({
      params: {
        clientCapabilities: {
          fs: { readTextFile: false, writeTextFile: false },
          terminal: false,
          _meta: { agentproto: { events: true } },
        },
      },
    })
  })
}

for (const word of ['drop-running', 'drop-ended', 'drop-answer', 'drop-tool', 'drop-twice']) {
  test(`${word}: a turn of a gateway goes on over a lost connection, nothing missing and nothing twice`, async () => {
    const { say, sink, agent } = await open({ numbered: true })
    const signals = await say(word)
    expect(textOf(signals)).toBe(
      {
        'drop-running': 'one two three',
        'drop-ended': 'one two',
        'drop-answer': 'all of it',
        'drop-tool': 'one two',
        'drop-twice': 'one two three four five',
      }[word],
    )
    expect(signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'end_turn' })
    expect(signals.filter(({ type }) => type === 'tool-result')).toHaveLength(word === 'drop-tool' ? 1 : 0)
    expect(agent.sent('session/prompt')).toHaveLength(1)
    expect(
      sink
        .ofType('notice')
        .map(({ severity }) => severity)
        .slice(0, 2),
    ).toEqual(['warning', 'info'])
    expect(textOf(await say('echo next'))).toBe('echo next')
  })
}
