import { systemClock } from '@agentproto/contracts'
import { HostDirectory, openCluster, SessionDirectory } from '@agentproto/fleet/parts'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { fleetOptions } from './support/fleet-options.ts'
import { startNats } from './support/nats-servers.ts'
import { DETAILS, testSession } from './support/test-host.ts'

test('the example of the README', needs('nats-server'), async () => {
  const { url } = await startNats()
  const options = { ...fleetOptions([url]), host: 'desk', clock: systemClock }
  const ignore = () => {}
  const events = { onProblem: ignore, onFenced: ignore, onSuspended: ignore, onReleased: ignore }
  const session = testSession('s1')

  const cluster = await openCluster(options)
  const hosts = await HostDirectory.join(cluster, { ...options, describe: () => DETAILS })
  const sessions = await SessionDirectory.open({ cluster, hosts, ...events })
  const epoch = await sessions.claim(session)
  expect(sessions.mayWrite(session.id)).toBe(true)
  expect([...sessions.all()].map(({ owner }) => owner)).toEqual(['desk'])
  expect(epoch).toBe(1)
  sessions.close()
  await hosts.close()
  await cluster.close()
})
