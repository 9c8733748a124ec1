import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { type Recording, runScript } from './support/acp-script.js'
import { NETWORK_WIRES, overNetwork } from './support/acp-wires.js'
import { curl } from './support/curl.js'
import type { Daemon } from './support/daemon.js'
import { startFleet } from './support/fleet.js'
import { temporaryFolder } from './support/temporary-folder.js'

// A client of ACP at host `two` drives the sessions of host `one` as one that is connected to that host.

const PATIENT = { timeout: 40_000 }

test.each(NETWORK_WIRES)(
  '17.2 the same script has the same answers and the same updates at another host over %s',
  { ...needs('nats-server', 'curl'), timeout: 120_000 },
  async (wire) => {
    const { owner, other } = await startFleet()
    const recorded = async (at: Daemon): Promise<Recording> => {
      const beforeList = async (): Promise<void> =>
        expect.poll(() => listed(other), PATIENT).toEqual(await listed(owner))
      const script = { meta: { on: 'one' }, beforeList }
      const recording = await runScript(() => overNetwork(wire, at), temporaryFolder('work'), script)
      for (const { id } of (await owner.client.sessions.list()).sessions) await owner.client.sessions.remove(id)
      await beforeList()
      return recording
    }
    const atOwner = await recorded(owner)
    expect(await recorded(other)).toEqual(atOwner)
    expect(JSON.stringify(atOwner)).toContain('echo: of the second client')
  },
)

/** At another host than that of the sessions it is what the directory has. */
const listed = async ({ url, token }: Daemon): Promise<string> =>
  (await curl(`${url}/sessions?host=one`, { token })).text
