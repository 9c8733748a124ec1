import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { startDaemon } from './support/daemon.js'
import { startFleet } from './support/fleet.js'
import { agentsIn, allEvents, numbersOf, ofType, textIn } from './support/kept-agents.js'
import { newMark } from './support/marked-processes.js'
import { allowOnce, pendingPermission } from './support/pending-request.js'

/** A gateway that had to wait for the end of the one before it would need three of these. */
const LEASE_MS = 20_000
const CHUNKS = Array.from({ length: 50 }, (_, at) => `chunk ${at + 1}\n`).join('')

test(
  '17.3 a gateway of a fleet is killed in a turn and started again: the other host answers its session at once, and nothing is doubled',
  { ...needs('nats-server', 'linux'), timeout: 120_000 },
  async () => {
    const mark = newMark()
    const { owner, other, ownerHome } = await startFleet({ keeper: true, leaseMs: LEASE_MS, env: mark.env })
    const { id } = await owner.client.sessions.start({ adapter: 'demo', cwd: ownerHome })
    await owner.client.sessions.prompt(id, { prompt: 'stream 50; ask kept.txt hello; stream 50' })
    const asked = await pendingPermission(other.client, id)
    const [agent] = agentsIn(mark.living(), id)
    await owner.crash()

    const begun = performance.now()
    const again = await startDaemon({ home: ownerHome, env: mark.env })
    const answer = { optionId: allowOnce(asked) }
    await expect
      .poll(() => other.client.sessions.answer(id, asked.requestId, answer), { interval: 100, timeout: LEASE_MS })
      .toBeDefined()
    expect(performance.now() - begun).toBeLessThan(LEASE_MS)

    expect(await other.client.sessions.waitTurn(id, 1)).toMatchObject({ reason: 'end_turn' })
    expect(agentsIn(mark.living(), id)).toEqual([agent])
    const events = await allEvents(again.client, id)
    expect(events.map(({ seq }) => seq)).toEqual(numbersOf(events))
    expect(ofType(events, 'turn-end')).toHaveLength(1)
    const text = textIn(events)
    expect([text.slice(0, CHUNKS.length), text.slice(-CHUNKS.length)]).toEqual([CHUNKS, CHUNKS])
    expect(text.split('chunk')).toHaveLength(101)
    await expect.poll(() => allEvents(other.client, id), { timeout: 10_000 }).toEqual(events)
    expect(again.printed()).not.toContain('alone')
    await again.client.sessions.kill(id)
    expect(agentsIn(mark.living(), id)).toEqual([])
  },
)
