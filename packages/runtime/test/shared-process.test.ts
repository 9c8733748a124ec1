import type { Principal } from '@agentproto/contracts'
import { environmentOf, findMarkedProcesses, type MarkedProcess } from '@agentproto/subprocess'
import { expect, test } from 'vitest'
import { sharedDemo } from './fixtures/shared-demo.js'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

const owner: Principal = { type: 'owner', name: 'owner' }

/** Other tests have such processes at the same time. */
const sharedMarkers = (home: string): Set<string> =>
  new Set(
    findMarkedProcesses()
      .filter(({ marker }) => marker.startsWith('shared_'))
      .filter((each) => isOf(home, each))
      .map(({ marker }) => marker),
  )

function isOf(home: string, process: MarkedProcess): boolean {
  const env = environmentOf(process)
  return env === undefined || Object.values(env).includes(home)
}

test('sessions of an adapter that shares its process remember each its own, and end each for itself', async () => {
  const home = await temporaryHome()
  const before = sharedMarkers(home)
  const gateway = await testGateway({ home, adapters: [await sharedDemo(home)] })
  const { sessions } = gateway
  const say = async (id: string, prompt: string): Promise<string> =>
    (await sessions.waitTurn(id, (await sessions.prompt(id, { prompt }, owner)).turn)).text
  const ids = await Promise.all(
    [1, 2, 3].map(async () => (await sessions.spawn({ adapter: 'demo', cwd: home }, owner)).id),
  )
  const started = [...sharedMarkers(home)].filter((marker) => !before.has(marker))
  expect(started).toHaveLength(1)
  await Promise.all(ids.map((id, index) => say(id, `the number is ${index}`)))
  const [first = '', second = '', third = ''] = ids
  await sessions.prompt(second, { prompt: 'hang' }, owner)
  await sessions.kill(first, owner)
  await sessions.kill(second, owner)
  expect(await say(third, 'recall')).toContain('the number is 2')
  expect(await sessions.get(second)).toMatchObject({ status: 'killed' })
  const [marker] = started
  await sessions.kill(third, owner)
  expect(findMarkedProcesses(marker)).toEqual([])
})

test('F33 a crash of a shared process ends each of its sessions as crashed', async () => {
  const home = await temporaryHome()
  const { sessions } = await testGateway({ home, adapters: [await sharedDemo(home)] })
  const [a, b] = await Promise.all([1, 2].map(() => sessions.spawn({ adapter: 'demo', cwd: home }, owner)))
  await sessions.prompt(a?.id ?? '', { prompt: 'crash' }, owner)
  const statuses = (): Promise<string[]> =>
    Promise.all([a, b].map(async (each) => (await sessions.get(each?.id ?? '')).status))
  await expect.poll(statuses).toEqual(['exited', 'exited'])
  // 12.B2: the process reports its code to every session that it held.
  for (const each of [a, b])
    expect(await sessions.get(each?.id ?? '')).toMatchObject({
      stopReason: 'agent_crashed',
      exitCode: 1,
      failure: { kind: 'process_exit' },
    })
})
