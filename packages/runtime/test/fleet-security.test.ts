import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Principal } from '@agentproto/contracts'
import { createFleetKey } from '@agentproto/fleet'
import type { Gateway } from '@agentproto/runtime'
import { expect, test } from 'vitest'
import { natsUser } from '../../fleet/test/support/nats-user.ts'
import { startNats } from '../../fleet/test/support/nats-servers.ts'
import { needs } from '../../../tooling/needs.ts'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

const owner: Principal = { type: 'owner', name: 'owner' }
const patient = { timeout: 20_000 }

/** The configuration of docs/fleet-security.md, with real keys. */
async function documented(keys: Readonly<Record<string, string>>): Promise<string> {
  const page = await readFile(new URL('../../../docs/fleet-security.md', import.meta.url), 'utf8')
  const [, config = ''] = /```conf\n([\s\S]*?)```/.exec(page) ?? []
  const filled = Object.entries(keys).reduce(
    (text, [name, key]) => text.replace(`nkey: ${name},`, `nkey: ${key},`),
    config,
  )
  // The test has a folder of its own.
  return filled.replace(/^jetstream .*$/m, '')
}

test(
  '17.7 the rights that docs/fleet-security.md gives are enough for a fleet, and for nothing else',
  needs('nats-server'),
  async () => {
    const [laptop, tower] = [natsUser(), natsUser()]
    const nats = await startNats({ config: await documented({ LAPTOP: laptop.publicKey, TOWER: tower.publicKey }) })
    const folder = await temporaryHome()
    const key = join(folder, 'fleet.key')
    await createFleetKey(key)
    const problems: string[] = []
    const start = async (host: string, seed: string): Promise<Gateway> => {
      const nkey = join(folder, `${host}.nk`)
      await writeFile(nkey, seed, { mode: 0o600 })
      return testGateway({
        home: await temporaryHome(),
        cluster: { servers: [nats.url], key, nkey, host, leaseMs: 1_000 },
        onProblem: (problem) => problems.push(`${host}: ${problem}`),
      })
    }
    const a = await start('laptop', laptop.seed)
    const b = await start('tower', tower.seed)
    await expect
      .poll(async () => (await b.hosts.list()).map(({ reachable }) => reachable), patient)
      .toEqual([true, true])
    const { id } = await a.sessions.spawn({ adapter: 'demo', cwd: a.home, prompt: 'hello' }, owner)
    await expect.poll(async () => (await b.sessions.list()).sessions.map((each) => each.id), patient).toEqual([id])
    await b.sessions.waitTurn(id, 1)
    const { turn } = await b.sessions.prompt(id, { prompt: 'again' }, owner)
    expect(await b.sessions.waitTurn(id, turn)).toMatchObject({ reason: 'end_turn' })
    const other = await b.sessions.spawn({ adapter: 'demo', on: 'laptop' }, owner)
    await b.sessions.forget(other.id, owner)
    await expect.poll(async () => (await b.sessions.list()).sessions.map((each) => each.id), patient).toEqual([id])
    await a.close()
    await expect.poll(async () => (await b.sessions.get(id)).state, patient).toBe('unreachable')
    expect((await b.sessions.events(id, 0, 1_000)).records.at(-1)?.type).toBe('session-stopped')
    expect(problems).toEqual([])
    // The user of one host cannot answer for another: its subjects are denied.
    await expect(start('printer', laptop.seed)).resolves.toBeDefined()
    await expect.poll(() => problems.join(), patient).toMatch(/printer: .*(Permissions Violation|denies)/i)
  },
)
