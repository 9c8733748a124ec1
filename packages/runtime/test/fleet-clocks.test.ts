import { join } from 'node:path'
import { type Clock, type Principal, systemClock } from '@agentproto/contracts'
import { createFleetKey } from '@agentproto/fleet'
import type { Gateway } from '@agentproto/runtime'
import { expect, test } from 'vitest'
import { startNats } from '../../fleet/test/support/nats-servers.ts'
import { needs } from '../../../tooling/needs.ts'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

const owner: Principal = { type: 'owner', name: 'owner' }
const patient = { timeout: 20_000 }

/** A machine whose clock is ahead, or behind. */
const clockOf = (aheadMs: number): Clock => ({
  now: () => systemClock.now() + aheadMs,
  after: (ms, run) => systemClock.after(ms, run),
})

/** Host `right`, and host `wrong`, whose clock is ahead by so much. */
async function twoClocks(aheadMs: number) {
  const [nats, folder] = await Promise.all([startNats(), temporaryHome()])
  const key = join(folder, 'fleet.key')
  await createFleetKey(key)
  const problems: string[] = []
  const start = async (host: string, clock: Clock): Promise<Gateway> =>
    testGateway({
      home: await temporaryHome(),
      clock,
      onProblem: (problem) => void problems.push(problem),
      cluster: { servers: [nats.url], key, host, leaseMs: 3_000 },
    })
  const right = await start('right', systemClock)
  const wrong = await start('wrong', clockOf(aheadMs))
  for (const gateway of [right, wrong]) await expect.poll(() => reachable(gateway), patient).toEqual(['right', 'wrong'])
  return { right, wrong, problems }
}

const reachable = async ({ hosts }: Gateway): Promise<readonly string[]> =>
  (await hosts.list()).flatMap(({ name, reachable: isReachable }) => (isReachable ? [name] : []))

const ahead = async ({ hosts }: Gateway, name: string): Promise<number> =>
  Math.round(((await hosts.list()).find((host) => host.name === name)?.clockAheadMs ?? 0) / 1_000)

test.each([20, -20])(
  '17.7 a host whose clock is %i s ahead does all, and both hosts say how far their clocks differ',
  needs('nats-server'),
  async (seconds) => {
    const { right, wrong, problems } = await twoClocks(seconds * 1_000)
    const { id } = await wrong.sessions.spawn({ adapter: 'demo', cwd: wrong.home, prompt: 'hello' }, owner)
    await wrong.sessions.waitTurn(id, 1)
    await expect.poll(async () => (await right.sessions.list()).sessions.map((each) => each.id), patient).toEqual([id])
    const { turn } = await right.sessions.prompt(id, { prompt: 'again' }, owner)
    expect(await right.sessions.waitTurn(id, turn)).toMatchObject({ reason: 'end_turn' })
    expect((await wrong.sessions.spawn({ adapter: 'demo', on: 'right' }, owner)).hostId).toBe('right')
    await expect.poll(() => ahead(right, 'wrong'), patient).toBe(seconds)
    await expect.poll(() => ahead(wrong, 'right'), patient).toBe(-seconds)
    const which = seconds > 0 ? 'ahead of' : 'behind'
    await expect
      .poll(() => problems.filter((problem) => problem.includes('NTP')).toSorted(), patient)
      .toEqual([
        expect.stringContaining(`The clock of the host wrong is 20 s ${which} that of this host.`),
        expect.stringContaining(`The clock of this host is 20 s ${which} that of the NATS server.`),
      ])
  },
)

test.each([40, -40])(
  '17.7 a host whose clock is %i s ahead keeps its lease, and its sessions are listed and read; calls between the two are refused, with the difference',
  needs('nats-server'),
  async (seconds) => {
    const { right, wrong } = await twoClocks(seconds * 1_000)
    const { id } = await wrong.sessions.spawn({ adapter: 'demo', cwd: wrong.home, prompt: 'hello' }, owner)
    expect(await wrong.sessions.waitTurn(id, 1)).toMatchObject({ reason: 'end_turn' })
    await expect.poll(async () => (await right.sessions.list()).sessions.map((each) => each.id), patient).toEqual([id])
    const here = await right.sessions.spawn({ adapter: 'demo', cwd: right.home }, owner)
    await expect.poll(async () => (await wrong.sessions.list()).sessions.length, patient).toBe(2)
    for (const [gateway, session, host, difference] of [
      [right, id, 'wrong', seconds],
      [wrong, here.id, 'right', -seconds],
    ] as const)
      await expect(gateway.sessions.prompt(session, { prompt: 'again' }, owner)).rejects.toMatchObject({
        code: 'host_unreachable',
        message: expect.stringContaining('The clocks of the hosts differ too much') as string,
        parts: {
          given: `the clock of ${host} is 40 s ${difference > 0 ? 'ahead' : 'behind'}`,
          hint: 'Set both clocks by NTP',
        },
      })
    expect((await wrong.sessions.get(id)).turnCount).toBe(1)
    expect(await reachable(right)).toEqual(['right', 'wrong'])
    expect(await reachable(wrong)).toEqual(['right', 'wrong'])
  },
)
