import { expect } from 'vitest'
import { endOf, textOf } from './cases/turn-signals.js'
import { type OnTurn, timed } from './opened.js'
import { CANCEL_MS, type OnCase } from './shared-cases.js'
import type { ArmSubject } from './subject.js'

/** After the second that an arm gives a cancelled turn: whatever it still does about it, it has done. */
const LATER_MS = 1_500

export function testRequests(subject: ArmSubject, on: OnTurn, onCase: OnCase): void {
  testAsks(on, onCase)
  testCancels(subject, on, onCase)
}

function testAsks(on: OnTurn, onCase: OnCase): void {
  onCase('permission', ({ sink }) => {
    expect(sink.asked.map(({ request }) => request.kind)).toEqual(['permission'])
    expect(textOf(sink.signals)).toBe('answer yes')
  })
  onCase('permission-cancel')

  on('ask', 'a request that fails is answered with cancelled', async ({ turn, sink }) => {
    sink.onAsk = async () => {
      throw new Error('the user interface is closed')
    }
    expect(textOf(await turn('ask'))).toMatch(/^answer (cancelled|abort)/)
  })

  on('ask-dies', 'F12 a request of an agent that dies is taken back', async ({ turn, sink }) => {
    expect(endOf(await turn('ask-dies'))).toMatchObject({ reason: 'error' })
    expect(sink.asked.every(({ signal }) => signal.aborted)).toBe(true)
  })
}

function testCancels(subject: ArmSubject, on: OnTurn, onCase: OnCase): void {
  onCase('cancel', ({ sink }) => expect(sink.text.endsWith('echo hi')).toBe(true))

  on('obeys', 'F15 a turn that ends at once when cancelled leaves the next alone', async ({ begin, session, sink }) => {
    const { ended: first } = await begin('obeys')
    await session.cancel()
    await first
    expect(endOf(sink.signals)).toMatchObject({ reason: 'cancelled' })
    const from = sink.signals.length
    const { ended: second } = await begin('obeys')
    await new Promise((resolve) => setTimeout(resolve, LATER_MS))
    expect(sink.signals.slice(from).filter(({ type }) => type === 'turn-end')).toEqual([])
    await session.cancel()
    await second
    expect(endOf(sink.signals.slice(from))).toMatchObject({ reason: 'cancelled' })
  })

  on('deaf', 'F2 a turn that ignores its cancel ends with its agent', async ({ begin, session, connection, sink }) => {
    const { ended } = await begin('deaf')
    await session.cancel()
    if (subject.deafTurn === 'waits') await connection.close()
    expect(await timed(ended)).toBeLessThan(CANCEL_MS)
    expect(endOf(sink.signals)).toMatchObject({ reason: 'cancelled' })
  })
}
