import { systemClock } from '@agentproto/contracts'
import { MemoryEventStore } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { Spine } from '../src/log/spine.js'

async function memorySpine(onStored: () => void = () => undefined): Promise<Spine> {
  const { log } = await new MemoryEventStore().open('s_00000001')
  return new Spine({ sessionId: 's_00000001', log, clock: systemClock, onStored })
}

test.each([0, 1, 2, 3])(
  'an entry appended %i steps after a write is told is stored when its append resolves',
  async (steps) => {
    let tell: () => void = () => undefined
    const told = new Promise<void>((resolve) => (tell = resolve))
    const spine = await memorySpine(() => tell())
    const second = told.then(async () => {
      for (let step = 0; step < steps; step += 1) await Promise.resolve()
      await spine.append([{ type: 'title', title: 'second' }])
      return spine.lastSeq
    })
    await spine.append([{ type: 'title', title: 'first' }])
    expect(await second).toBe(2)
  },
)

test('appending nothing is no write, and what is appended next is stored', async () => {
  const spine = await memorySpine()
  await spine.append([])
  expect(spine.lastSeq).toBe(0)
  await spine.append([{ type: 'title', title: 'one' }])
  expect(spine.lastSeq).toBe(1)
})
