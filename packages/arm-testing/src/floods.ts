import { expect } from 'vitest'
import { endOf, textOf } from './cases/turn-signals.js'
import type { OnTurn } from './opened.js'

const MANY = 20_000
/** Larger than any pipe. */
const HUGE = 5 << 20
/** What may come on while the host is busy: what was read before it was. */
const AHEAD = 4_000

export function testFloods(on: OnTurn): void {
  on('stream', 'thousands of events come in order, and none is lost', async ({ turn }) => {
    const said = textOf(await turn('stream', String(MANY)))
    expect(said).toBe(Array.from({ length: MANY }, (_, i) => `${i} `).join(''))
  })

  on('stream', 'F35 a busy host holds the agent up, and loses nothing', async ({ session, sink }) => {
    let release = (): void => {}
    const busy = new Promise<void>((resolve) => (release = resolve))
    sink.onBatch = () => busy
    const sent = session.send([{ type: 'text', text: `stream ${MANY}` }])
    await sink.until(() => sink.signals.length > 0)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(sink.signals.length).toBeLessThan(AHEAD)
    release()
    await sent
    expect(sink.ofType('text-delta').length).toBeGreaterThan(0)
    expect(sink.text.endsWith(`${MANY - 1} `)).toBe(true)
    endOf(sink.signals)
  })

  on('huge', 'a message of five megabytes in one line arrives whole', async ({ turn }) => {
    expect(textOf(await turn('huge', String(HUGE)))).toHaveLength(HUGE)
  })

  on('stderr', 'F34 an agent that floods stderr in the middle of a turn is not held up by it', async ({ turn }) => {
    const signals = await turn('stderr')
    expect(textOf(signals)).toBe('done')
    expect(signals.some((signal) => signal.type === 'output' && signal.stream === 'stderr')).toBe(true)
  })
}
