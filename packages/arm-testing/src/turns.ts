import type { AgentSignal } from '@agentproto/contracts/agent'
import { expect } from 'vitest'
import { endOf, eventsOf, textOf } from './cases/turn-signals.js'
import type { OnTurn } from './opened.js'
import type { OnCase } from './shared-cases.js'
import type { ArmSubject } from './subject.js'

const typesOf = (signals: readonly AgentSignal[]): readonly string[] => eventsOf(signals).map(({ type }) => type)

export function testTurns(subject: ArmSubject, on: OnTurn, onCase: OnCase): void {
  testEnds(on, onCase)
  testFailures(subject, on)
  testWords(on)
  testTools(on, onCase)
}

function testEnds(on: OnTurn, onCase: OnCase): void {
  onCase('answer', ({ sink }) => expect(textOf(sink.signals)).toBe('echo hi'))
  onCase('stream')

  on('well', 'one conversation goes through all turns', async ({ turn }) => {
    await turn('echo', 'one')
    await turn('echo', 'two')
    expect(textOf(await turn('remember'))).toContain('echo one|echo two|remember')
  })

  on('empty', 'F8 a turn that produced nothing says so', async ({ turn }) => {
    const signals = await turn('empty')
    expect(endOf(signals)).toMatchObject({ reason: 'end_turn', empty: true })
    expect(endOf(await turn('echo', 'x')).empty).toBeUndefined()
  })

  on('well', 'F16 a second prompt is refused, and the running turn goes on', async ({ begin, session, sink, turn }) => {
    const { ended } = await begin('hang')
    await expect(turn('echo', 'x')).rejects.toMatchObject({ code: 'turn_in_progress' })
    await session.cancel()
    await ended
    expect(endOf(sink.signals)).toMatchObject({ reason: 'cancelled' })
  })

  on('twice', 'an agent that answers twice ends its turn once', async ({ turn }) => {
    expect(endOf(await turn('twice'))).toMatchObject({ reason: 'end_turn' })
    expect(endOf(await turn('echo', 'next'))).toMatchObject({ reason: 'end_turn' })
  })

  on('late', 'F15 what comes in one read with the answer is inside the turn', async ({ turn }) => {
    const signals = await turn('late')
    expect(textOf(signals)).toBe('before after')
    endOf(signals)
  })

  on('after-end', 'F15 what an agent says after the end is no part of a turn', async ({ turn, sink }) => {
    endOf(await turn('after-end'))
    const before = eventsOf(sink.signals).length
    await sink.until(() => sink.signals.some((signal) => JSON.stringify(signal).includes('too late')))
    expect(eventsOf(sink.signals)).toHaveLength(before)
    const next = await turn('echo', 'next')
    expect(textOf(next)).toBe('echo next')
  })
}

function testFailures(subject: ArmSubject, on: OnTurn): void {
  on('fails', 'F7 a prompt that the agent fails is an error, then an end that says so', async ({ turn }) => {
    const signals = await turn('fails')
    expect(signals).toContainEqual(
      expect.objectContaining({ type: 'error', message: expect.stringContaining('overloaded') as unknown }),
    )
    expect(endOf(signals)).toMatchObject({ reason: 'error' })
    expect(textOf(await turn('echo', 'again'))).toBe('echo again')
  })

  on('dies', 'F6 an agent that dies in a turn ends it with an error that says how', async ({ turn, connection }) => {
    const signals = await turn('dies')
    expect(textOf(signals)).toBe('last words')
    expect(typesOf(signals).slice(-2)).toEqual(['error', 'turn-end'])
    expect(endOf(signals)).toMatchObject({ reason: 'error' })
    if (subject.processPerTurn) return expect(textOf(await turn('echo', 'again'))).toBe('echo again')
    const end = await connection.ended
    expect(end).toMatchObject({ duringTurn: true, cause: 'exit', exitCode: 7 })
    expect(end.stderrTail).toContain('out of memory')
  })

  on('leaves', 'F33 an exit code of 0 in the middle of a turn is no success', async ({ turn, connection }) => {
    expect(endOf(await turn('leaves'))).toMatchObject({ reason: 'error' })
    if (subject.processPerTurn) return
    expect(await connection.ended).toMatchObject({ duringTurn: true, exitCode: 0 })
  })

  on('killed', 'the end of a killed agent names the signal', async ({ turn, connection }) => {
    expect(endOf(await turn('killed'))).toMatchObject({ reason: 'error' })
    if (subject.processPerTurn) return
    expect(await connection.ended).toMatchObject({ duringTurn: true, signal: 'SIGKILL' })
  })

  on('dies', 'F17 a prompt to an agent that has ended is a failed turn', async ({ turn, connection }) => {
    await turn('dies')
    if (subject.processPerTurn) return
    await connection.ended
    expect(endOf(await turn('echo', 'x'))).toMatchObject({ reason: 'error' })
  })

  on('well', 'a sink that throws does not cost the turn its end', async ({ session, sink }) => {
    sink.onBatch = () => {
      throw new Error('the host is broken')
    }
    await session.send([{ type: 'text', text: 'echo hi' }])
    expect(endOf(sink.signals)).toMatchObject({ reason: 'end_turn' })
  })
}

function testWords(on: OnTurn): void {
  on('garbage', 'broken JSON, banners and control characters are no part of a turn', async ({ turn }) => {
    const signals = await turn('garbage')
    expect(textOf(signals)).toBe('ab')
    expect(endOf(signals)).toMatchObject({ reason: 'end_turn' })
  })

  on('utf8', 'a character that the pipe cuts in two arrives whole', async ({ turn }) => {
    expect(textOf(await turn('utf8'))).toBe('grüße 🎉 漢字')
  })

  on('unknown', 'a message of an unknown kind is kept and harms nothing', async ({ turn }) => {
    const signals = await turn('unknown')
    expect(textOf(signals)).toBe('known')
    expect(signals.some(({ type }) => type === 'extension')).toBe(true)
  })

  on('asks', 'a request that the host does not serve is refused, never left unanswered', async ({ turn }) => {
    expect(textOf(await turn('asks'))).toMatch(/^answered \S/)
  })

  on('think', 'thoughts and text are different events', async ({ turn }) => {
    expect(typesOf(await turn('think'))).toEqual(['thought', 'text-delta', 'turn-end'])
  })
}

function testTools(on: OnTurn, onCase: OnCase): void {
  onCase('tool')

  on('tool', 'a tool call is an upsert by its id, and its result the last word', async ({ turn }) => {
    const [call, result] = eventsOf(await turn('tool'))
    expect(call).toMatchObject({ type: 'tool-call', toolCallId: 't1', kind: 'read', status: 'in_progress' })
    expect(result).toMatchObject({ type: 'tool-result', toolCallId: 't1', status: 'completed' })
  })

  on('tool-open', 'F13 a tool call that the agent left open is ended with the turn', async ({ turn }) => {
    const signals = await turn('tool-open')
    expect(signals).toContainEqual({ type: 'tool-result', toolCallId: 't1', status: 'interrupted' })
    endOf(signals)
  })

  on('tool-only-result', 'a result without a call is both', async ({ turn }) => {
    expect(typesOf(await turn('tool-only-result'))).toEqual(['tool-call', 'tool-result', 'turn-end'])
  })

  on('tool-twice', 'a tool call that has ended is not opened again', async ({ turn }) => {
    expect(typesOf(await turn('tool-twice'))).toEqual(['tool-call', 'tool-result', 'text-delta', 'turn-end'])
  })
}
