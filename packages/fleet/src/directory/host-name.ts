import { hostname } from 'node:os'
import { AgentprotoError } from '@agentproto/contracts'
import type { FleetOptions } from '../fleet-options.js'

const HOST_NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** The name of this host in its fleet: by default that of the machine. @throws `invalid_request` */
export function hostName({ host }: Pick<FleetOptions, 'host'>): string {
  const name = host ?? hostname().split('.')[0]?.toLowerCase() ?? ''
  if (HOST_NAME.test(name)) return name
  throw new AgentprotoError('invalid_request', 'The host name cannot be used in a fleet', {
    expected: '1 to 63 of a-z, 0-9 and -, without - at an end',
    given: name,
    hint: 'Give another one with --host-name.',
  })
}
