import { expect } from 'vitest'
import { endOf, type OnTurn, textOf, timed } from './opened.js'
import type { ArmSubject } from './subject.js'

/**
 * A cancel ends its turn within a second. A machine that is busy with much else adds its own, in this process and in the
 * agent's; what an arm forgets would take for ever.
 */
const CANCEL_MS = 8_000
/** After the second that an arm gives a cancelled turn: whatever it still does about it, it has done. */
const LATER_MS = 1_500

export function testRequests(subject: ArmSubject, on: OnTurn): void {
  testAsks(on)
  testCancels(subject, on)
}

function testAsks(on: OnTurn): void {
  on('ask', 'a permission is requested, and the agent gets the answer', async ({ turn, sink }) => {
    sink.onAsk = async (request) => {
      const [first] = request.kind === 'permission' ? request.options : []
      return { outcome: 'selected', optionId: first?.optionId ?? '' }
    }
    const signals = await turn('ask')
    expect(sink.asked.map(({ request }) => request.kind)).toEqual(['permission'])
    expect(textOf(signals)).toBe('answer yes')
  })

  on('ask', 'a request that fails is answered with cancelled', async ({ turn, sink }) => {
    sink.onAsk = async () => {
      throw new Error('the user interface is closed')
    }
    expect(textOf(await turn('ask'))).toMatch(/^answer (cancelled|abort)/)
  })

  on('ask', 'a cancel while the agent asks takes the request back and ends the turn', async ({ session, sink }) => {
    const sent = session.send([{ type: 'text', text: 'ask' }])
    await sink.until(() => sink.asked.length > 0)
    await session.cancel()
    expect(await timed(sent)).toBeLessThan(CANCEL_MS)
    expect(sink.asked[0]?.signal.aborted).toBe(true)
    expect(endOf(sink.signals)).toMatchObject({ reason: 'cancelled' })
  })

  on('ask-dies', 'F12 a request of an agent that dies is taken back', async ({ turn, sink }) => {
    expect(endOf(await turn('ask-dies'))).toMatchObject({ reason: 'error' })
    expect(sink.asked.every(({ signal }) => signal.aborted)).toBe(true)
  })
}

function testCancels(subject: ArmSubject, on: OnTurn): void {
  on('hang', 'F20 a cancelled turn ends in time, and the session goes on', async ({ begin, session, sink, turn }) => {
    const { ended } = await begin('hang')
    await Promise.all([session.cancel(), session.cancel()])
    expect(await timed(ended)).toBeLessThan(CANCEL_MS)
    expect(endOf(sink.signals)).toMatchObject({ reason: 'cancelled' })
    // When nothing runs it does nothing.
    await session.cancel()
    expect(textOf(await turn('echo', 'next'))).toBe('echo next')
  })

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
