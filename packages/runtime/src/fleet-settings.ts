import { hostname } from 'node:os'
import { isAbsolute } from 'node:path'
import { AgentprotoError, defined } from '@agentproto/contracts'
import type { HomeLayout } from '@agentproto/contracts/agent'
import type { ClusterOptions } from './gateway-options.js'

/** How a gateway joins its fleet, with the defaults of its home and machine. */
export interface FleetSettings extends ClusterOptions {
  readonly servers: readonly string[]
  readonly key: string
  readonly host: string
  readonly labels: Readonly<Record<string, string>>
}

/** The options over those of config.json. */
export const clusterOver = (config: ClusterOptions = {}, given: ClusterOptions = {}): ClusterOptions => ({
  ...config,
  ...given,
  ...(config.tls && { tls: { ...config.tls, ...given.tls } }),
})

/**
 * The fleet of these options; undefined without any, which is no fleet.
 * @throws `invalid_request` for options without servers, and for names that cannot be used. The files are read when it is joined
 */
export function fleetSettings(options: ClusterOptions, layout: HomeLayout): FleetSettings | undefined {
  const given = defined(options)
  if (Object.keys(given).length === 0) return undefined
  const { servers = [], host = nameOfMachine(), labels = {}, key = layout.fleetKey } = given
  if (servers.length === 0)
    throw invalid('The options of a cluster have no servers', {
      expected: 'cluster.servers in config.json, or `agentproto serve --cluster nats://host:4222`',
      given: Object.keys(given).join(', '),
    })
  if (!HOST.test(host))
    throw invalid('The name of the host is invalid', {
      expected: '1 to 63 of a-z, 0-9 and -, without - at an end',
      given: host,
    })
  assertLabels(labels)
  if (!isAbsolute(key))
    throw invalid('The path of the key of the fleet is relative', { expected: 'an absolute path', given: key })
  return { ...given, servers, key, host, labels }
}

const HOST = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const LABEL = /^[A-Za-z0-9_.-]{1,63}$/
const MAX_LABELS = 32
const MAX_VALUE = 128

function assertLabels(labels: Readonly<Record<string, string>>): void {
  const entries = Object.entries(labels)
  const wrong = entries.find(([name, value]) => !LABEL.test(name) || value.length < 1 || value.length > MAX_VALUE)
  if (wrong === undefined && entries.length <= MAX_LABELS) return
  throw invalid('The labels of the host are invalid', {
    expected: `at most ${MAX_LABELS}: a name of 1 to 63 of A-Z, a-z, 0-9, _, . and -, and a value of 1 to ${MAX_VALUE} characters`,
    given: wrong?.join('=') ?? `${entries.length} labels`,
  })
}

/** The `hostId` of the sessions of a gateway. */
export const hostNameOf = ({ fleet }: { readonly fleet?: FleetSettings }): string => fleet?.host ?? hostname()

/** In the characters that the name of a host has. */
function nameOfMachine(): string {
  const name = hostname()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 63)
    .replace(/-$/, '')
  return name === '' ? 'host' : name
}

const invalid = (problem: string, parts: { readonly expected: string; readonly given: string }): AgentprotoError =>
  new AgentprotoError('invalid_request', problem, parts)
