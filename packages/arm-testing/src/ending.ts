import { expect } from 'vitest'
import { endOf } from './cases/turn-signals.js'
import { leftovers } from './leftovers.js'
import type { OnTurn } from './opened.js'
import type { OnCase } from './shared-cases.js'
import type { ArmSubject } from './subject.js'

export function testEnding(subject: ArmSubject, on: OnTurn, onCase: OnCase): void {
  testCloses(on, onCase)
  testLeftovers(subject, on)
  testBrokenPipes(on)
}

function testCloses(on: OnTurn, onCase: OnCase): void {
  onCase('end', async ({ session }) => {
    await expect(session.send([{ type: 'text', text: 'echo' }])).rejects.toMatchObject({ code: 'session_ended' })
  })
  onCase('end-in-turn')

  on('well', 'a session is closed before its connection, and takes no prompt', async ({ session, connection }) => {
    await session.close()
    await connection.close()
    await expect(session.send([{ type: 'text', text: 'echo' }])).rejects.toMatchObject({ code: 'session_ended' })
  })

  on('dies', 'an end that was asked for is not reported as the agent’s own', async ({ connection }) => {
    await connection.close()
    const outcome = await Promise.race([
      connection.ended,
      new Promise((resolve) => setTimeout(() => resolve('pending'), 100)),
    ])
    expect(outcome).toBe('pending')
  })
}

function testLeftovers(subject: ArmSubject, on: OnTurn): void {
  on('stubborn', 'F22 a stubborn agent and its detached child end', async ({ begin, connection, sink, launch }) => {
    const { ended } = await begin('stubborn', /\d/)
    expect(leftovers(launch.marker).length).toBeGreaterThanOrEqual(2)
    await connection.close()
    await ended
    expect(leftovers(launch.marker)).toEqual([])
    endOf(sink.signals)
  })

  on('orphans', 'F23 what a turn left running ends with the connection', async ({ connection, turn, launch }) => {
    endOf(await turn('orphans'))
    if (!subject.processPerTurn) expect(leftovers(launch.marker).length).toBeGreaterThanOrEqual(1)
    await connection.close()
    expect(leftovers(launch.marker)).toEqual([])
  })

  on('dies', 'F23 the end of an agent is reported once nothing of it runs', async ({ connection, turn, launch }) => {
    if (subject.processPerTurn) return
    await turn('orphans')
    await turn('dies')
    await connection.ended
    expect(leftovers(launch.marker)).toEqual([])
  })
}

function testBrokenPipes(on: OnTurn): void {
  on('no-stdin', 'F26 an agent that closes its stdin crashes no host', async ({ begin, session, connection, sink }) => {
    const { ended } = await begin('no-stdin', /closed/)
    await session.cancel()
    await connection.close()
    await ended
    endOf(sink.signals)
  })

  on('no-stdout', 'F31 an agent that closes its stdout is a broken connection', async ({ connection, turn }) => {
    expect(endOf(await turn('no-stdout'))).toMatchObject({ reason: 'error' })
    expect(await connection.ended).toMatchObject({ duringTurn: true, cause: 'transport' })
  })
}
