import type { AgentSignal } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { testOf } from './able.js'
import { endOf, eventsOf, open, textOf } from './opened.js'
import type { ArmSubject } from './subject.js'

const typesOf = (signals: readonly AgentSignal[]): readonly string[] => eventsOf(signals).map(({ type }) => type)

export function testTurns(subject: ArmSubject): void {
  endsOf(subject)
  failuresOf(subject)
  wordsOf(subject)
  toolsOf(subject)
}

function endsOf(subject: ArmSubject): void {
  test('F9 a turn gives its text and one end', async () => {
    const { turn } = await open(subject)
    const signals = await turn('echo', 'hi')
    expect(textOf(signals)).toBe('echo hi')
    expect(endOf(signals)).toMatchObject({ reason: 'end_turn' })
  })

  test('one conversation goes through all turns', async () => {
    const { turn } = await open(subject)
    await turn('echo', 'one')
    await turn('echo', 'two')
    expect(textOf(await turn('remember'))).toContain('echo one|echo two|remember')
  })

  testOf(subject, 'empty')('F8 a turn that produced nothing says so', async () => {
    const { turn } = await open(subject)
    const signals = await turn('empty')
    expect(endOf(signals)).toMatchObject({ reason: 'end_turn', empty: true })
    expect(endOf(await turn('echo', 'x')).empty).toBeUndefined()
  })

  test('F16 a second prompt while a turn runs is refused, and the turn goes on', async () => {
    const { session, sink, turn } = await open(subject)
    const first = session.send([{ type: 'text', text: 'hang' }])
    await sink.until(() => sink.text.includes('working'))
    await expect(turn('echo', 'x')).rejects.toMatchObject({ code: 'turn_in_progress' })
    await session.cancel()
    await first
    expect(endOf(sink.signals)).toMatchObject({ reason: 'cancelled' })
  })

  testOf(subject, 'twice')('an agent that answers twice ends its turn once', async () => {
    const { turn } = await open(subject)
    expect(endOf(await turn('twice'))).toMatchObject({ reason: 'end_turn' })
    expect(endOf(await turn('echo', 'next'))).toMatchObject({ reason: 'end_turn' })
  })

  testOf(subject, 'late')('F15 what comes in one read with the answer is inside the turn', async () => {
    const { turn } = await open(subject)
    const signals = await turn('late')
    expect(textOf(signals)).toBe('before after')
    endOf(signals)
  })

  testOf(subject, 'after-end')('F15 what an agent says after the end is no part of a turn', async () => {
    const { turn, sink } = await open(subject)
    endOf(await turn('after-end'))
    const before = eventsOf(sink.signals).length
    await sink.until(() => sink.signals.some((signal) => JSON.stringify(signal).includes('too late')))
    expect(eventsOf(sink.signals)).toHaveLength(before)
    const next = await turn('echo', 'next')
    expect(textOf(next)).toBe('echo next')
  })
}

function failuresOf(subject: ArmSubject): void {
  testOf(subject, 'fails')('F7 a prompt that the agent fails is an error, then an end that says so', async () => {
    const { turn } = await open(subject)
    const signals = await turn('fails')
    expect(signals).toContainEqual(
      expect.objectContaining({ type: 'error', message: expect.stringContaining('overloaded') as unknown }),
    )
    expect(endOf(signals)).toMatchObject({ reason: 'error' })
    expect(textOf(await turn('echo', 'again'))).toBe('echo again')
  })

  testOf(subject, 'dies')(
    'F6 an agent that dies in the middle of a turn ends it with an error that says how',
    async () => {
      const { turn, connection } = await open(subject)
      const signals = await turn('dies')
      expect(textOf(signals)).toBe('last words')
      expect(typesOf(signals).slice(-2)).toEqual(['error', 'turn-end'])
      expect(endOf(signals)).toMatchObject({ reason: 'error' })
      if (subject.processPerTurn) return expect(textOf(await turn('echo', 'again'))).toBe('echo again')
      const end = await connection.ended
      expect(end).toMatchObject({ duringTurn: true, cause: 'exit', exitCode: 7 })
      expect(end.stderrTail).toContain('out of memory')
    },
  )

  testOf(subject, 'leaves')('F33 an exit code of 0 in the middle of a turn is no success', async () => {
    const { turn, connection } = await open(subject)
    expect(endOf(await turn('leaves'))).toMatchObject({ reason: 'error' })
    if (subject.processPerTurn) return
    expect(await connection.ended).toMatchObject({ duringTurn: true, exitCode: 0 })
  })

  testOf(subject, 'killed')('the end of a killed agent names the signal', async () => {
    const { turn, connection } = await open(subject)
    expect(endOf(await turn('killed'))).toMatchObject({ reason: 'error' })
    if (subject.processPerTurn) return
    expect(await connection.ended).toMatchObject({ duringTurn: true, signal: 'SIGKILL' })
  })

  testOf(subject, 'dies')('F17 a prompt to an agent that has ended is a failed turn', async () => {
    const { turn, connection } = await open(subject)
    await turn('dies')
    if (subject.processPerTurn) return
    await connection.ended
    expect(endOf(await turn('echo', 'x'))).toMatchObject({ reason: 'error' })
  })

  test('a sink that throws does not cost the turn its end', async () => {
    const { session, sink } = await open(subject)
    sink.onBatch = () => {
      throw new Error('the host is broken')
    }
    await session.send([{ type: 'text', text: 'echo hi' }])
    expect(endOf(sink.signals)).toMatchObject({ reason: 'end_turn' })
  })
}

function wordsOf(subject: ArmSubject): void {
  testOf(subject, 'garbage')(
    'broken JSON, banners and control characters in the middle of a turn are no part of it',
    async () => {
      const { turn } = await open(subject)
      const signals = await turn('garbage')
      expect(textOf(signals)).toBe('ab')
      expect(endOf(signals)).toMatchObject({ reason: 'end_turn' })
    },
  )

  testOf(subject, 'utf8')('a character that the pipe cuts in two arrives whole', async () => {
    const { turn } = await open(subject)
    expect(textOf(await turn('utf8'))).toBe('grüße 🎉 漢字')
  })

  testOf(subject, 'unknown')('a message of an unknown kind is kept and harms nothing', async () => {
    const { turn } = await open(subject)
    const signals = await turn('unknown')
    expect(textOf(signals)).toBe('known')
    expect(signals.some(({ type }) => type === 'extension')).toBe(true)
  })

  testOf(subject, 'asks')('a request that the host does not serve is refused, never left unanswered', async () => {
    const { turn } = await open(subject)
    expect(textOf(await turn('asks'))).toMatch(/^answered \S/)
  })

  testOf(subject, 'think')('thoughts and text are different events', async () => {
    const { turn } = await open(subject)
    expect(typesOf(await turn('think'))).toEqual(['thought', 'text-delta', 'turn-end'])
  })
}

function toolsOf(subject: ArmSubject): void {
  testOf(subject, 'tool')('a tool call is an upsert by its id, and its result the last word', async () => {
    const { turn } = await open(subject)
    const [call, result] = eventsOf(await turn('tool'))
    expect(call).toMatchObject({ type: 'tool-call', toolCallId: 't1', kind: 'read', status: 'in_progress' })
    expect(result).toMatchObject({ type: 'tool-result', toolCallId: 't1', status: 'completed' })
  })

  testOf(subject, 'tool-open')('F13 a tool call that the agent left open is ended with the turn', async () => {
    const { turn } = await open(subject)
    const signals = await turn('tool-open')
    expect(signals).toContainEqual({ type: 'tool-result', toolCallId: 't1', status: 'interrupted' })
    endOf(signals)
  })

  testOf(subject, 'tool-only-result')('a result without a call is both', async () => {
    const { turn } = await open(subject)
    expect(typesOf(await turn('tool-only-result'))).toEqual(['tool-call', 'tool-result', 'turn-end'])
  })

  testOf(subject, 'tool-twice')('a tool call that has ended is not opened again', async () => {
    const { turn } = await open(subject)
    expect(typesOf(await turn('tool-twice'))).toEqual(['tool-call', 'tool-result', 'text-delta', 'turn-end'])
  })
}
