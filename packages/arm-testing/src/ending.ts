import { expect, test } from 'vitest'
import { testOf } from './able.js'
import { leftovers } from './leftovers.js'
import { endOf, open } from './opened.js'
import type { ArmSubject } from './subject.js'

export function testEnding(subject: ArmSubject): void {
  closesOf(subject)
  leftoversOf(subject)
  brokenPipesOf(subject)
}

function closesOf(subject: ArmSubject): void {
  test('closing leaves nothing, and can be done twice at once', async () => {
    const { session, connection, launch } = await open(subject)
    await session.close()
    await Promise.all([connection.close(), connection.close()])
    expect(leftovers(launch.marker)).toEqual([])
    await expect(session.send([{ type: 'text', text: 'echo' }])).rejects.toMatchObject({ code: 'session_ended' })
  })

  testOf(subject, 'hang')('closing in the middle of a turn ends the turn, once', async () => {
    const { session, connection, sink, launch } = await open(subject)
    const sent = session.send([{ type: 'text', text: 'hang' }])
    await sink.until(() => sink.text.includes('working'))
    await connection.close()
    await sent
    expect(endOf(sink.signals)).toMatchObject({ reason: 'cancelled' })
    expect(leftovers(launch.marker)).toEqual([])
  })

  testOf(subject, 'dies')('an end that was asked for is not reported as the agent’s own', async () => {
    const { connection } = await open(subject)
    await connection.close()
    const outcome = await Promise.race([
      connection.ended,
      new Promise((resolve) => setTimeout(() => resolve('pending'), 100)),
    ])
    expect(outcome).toBe('pending')
  })
}

function leftoversOf(subject: ArmSubject): void {
  testOf(subject, 'stubborn')(
    'F22 an agent that resists its end, with a child in a session of its own, is ended whole',
    async () => {
      const { session, connection, sink, launch } = await open(subject)
      const sent = session.send([{ type: 'text', text: 'stubborn' }])
      await sink.until(() => /\d/.test(sink.text))
      expect(leftovers(launch.marker).length).toBeGreaterThanOrEqual(2)
      await connection.close()
      await sent
      expect(leftovers(launch.marker)).toEqual([])
      endOf(sink.signals)
    },
  )

  testOf(subject, 'orphans')('F23 what a turn left running ends with the connection', async () => {
    const { connection, turn, launch } = await open(subject)
    endOf(await turn('orphans'))
    if (!subject.processPerTurn) expect(leftovers(launch.marker).length).toBeGreaterThanOrEqual(1)
    await connection.close()
    expect(leftovers(launch.marker)).toEqual([])
  })

  testOf(subject, 'dies')('F23 the end of an agent is reported once nothing of it runs', async () => {
    const { connection, turn, launch } = await open(subject)
    if (subject.processPerTurn) return
    await turn('orphans')
    await turn('dies')
    await connection.ended
    expect(leftovers(launch.marker)).toEqual([])
  })
}

function brokenPipesOf(subject: ArmSubject): void {
  testOf(subject, 'no-stdin')('F26 an agent that closes its stdin does not crash the host', async () => {
    const { session, connection, sink } = await open(subject)
    const sent = session.send([{ type: 'text', text: 'no-stdin' }])
    await sink.until(() => sink.text.includes('closed'))
    await session.cancel()
    await connection.close()
    await sent
    endOf(sink.signals)
  })

  testOf(subject, 'no-stdout')(
    'F31 an agent that closes its stdout and keeps running is ended, and reported as a broken connection',
    async () => {
      const { connection, turn } = await open(subject)
      expect(endOf(await turn('no-stdout'))).toMatchObject({ reason: 'error' })
      expect(await connection.ended).toMatchObject({ duringTurn: true, cause: 'transport' })
    },
  )
}
