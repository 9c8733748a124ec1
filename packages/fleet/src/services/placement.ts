import { createHash } from 'node:crypto'
import { AgentprotoError, type Principal } from '@agentproto/contracts'
import type { Host, SpawnAgentRequest } from '@agentproto/contracts/wire'

/** What decides where a session is started. */
type PlacedRequest = Pick<SpawnAgentRequest, 'on' | 'adapter' | 'workspaceSlug' | 'idempotencyKey'>

/** Why hosts cannot take a session: of each host by name, what it lacks. */
export type Lacks = Readonly<Record<string, readonly string[]>>

/**
 * The host of a new session. Without `on` it is the host that was asked, which answers what it lacks itself. Of several that can
 * take it, it is the one with the most free places; with an idempotency key always the same of them.
 * @param hosts All of the fleet, with `self`
 * @throws `host_not_found` for an unknown name, `host_unreachable` for a named host that is not heard from, `placement_refused`
 *   with what each host lacks in `hosts`
 */
export function placeSession(request: PlacedRequest, hosts: readonly Host[], by: Principal): Host {
  const { on } = request
  const own = hosts.find(({ self }) => self === true)
  if (own === undefined) throw new AgentprotoError('internal', 'This host is not in the list of hosts')
  if (on === undefined) return own
  const named = hosts.find(({ name }) => name === on)
  if (on !== 'any' && !isLabel(on) && named === undefined) throw unknownHost(on, hosts)
  if (by.type === 'session') return placeChild(on, own)
  if (named === undefined) return chosen(request, hosts)
  if (!named.reachable) throw unreachable(named)
  const lacks = [...lacksOf(named, request), ...lackOfPlaces(named)]
  if (lacks.length === 0) return named
  throw refused(`The host ${named.name} cannot take the session`, { [named.name]: lacks })
}

/** A host name has no `=`. */
const isLabel = (on: string): boolean => on.includes('=')

/** An agent and its children share folders and limits, which are those of its host. */
function placeChild(on: string, own: Host): Host {
  if (on === 'any' || on === own.name || hasLabel(own, on)) return own
  throw refused('A session that an agent starts runs on the host of that agent', {
    [own.name]: [isLabel(on) ? `the label ${on}` : `the name ${on}`],
  })
}

function chosen(request: PlacedRequest, hosts: readonly Host[]): Host {
  const { on = 'any', idempotencyKey } = request
  const all = hosts.map((host) => ({ host, lacks: [...lackOfLabel(host, on), ...lacksOf(host, request)] }))
  const able = all.filter(({ lacks }) => lacks.length === 0).map(({ host }) => host)
  // Free places change between two calls with the same key, which must reach the same host.
  if (idempotencyKey !== undefined && able.length > 0) return first(able, (host) => rank(idempotencyKey, host))
  const free = able.filter(({ freeSessions }) => freeSessions > 0)
  if (free.length > 0) return first(free, mostFree)
  const lacks = all.map(({ host, lacks: known }) => [host.name, [...known, ...lackOfPlaces(host)]] as const)
  throw refused('No host can take the session', Object.fromEntries(lacks))
}

/** What a host lacks beside a free place. */
export function lacksOf(
  host: Host,
  { adapter, workspaceSlug }: Omit<PlacedRequest, 'on' | 'idempotencyKey'>,
): readonly string[] {
  const { reachable, adapters, workspaces } = host
  if (!reachable) return ['a sign of life']
  return [
    ...(adapters.includes(adapter) ? [] : [`the agent ${adapter}`]),
    ...(workspaceSlug === undefined || workspaces.includes(workspaceSlug) ? [] : [`the workspace ${workspaceSlug}`]),
  ]
}

const lackOfPlaces = ({ reachable, freeSessions }: Host): readonly string[] =>
  reachable && freeSessions <= 0 ? ['a free place'] : []

const lackOfLabel = (host: Host, on: string): readonly string[] =>
  on === 'any' || hasLabel(host, on) ? [] : [`the label ${on}`]

function hasLabel({ labels }: Host, on: string): boolean {
  const at = on.indexOf('=')
  const name = on.slice(0, at)
  return at > 0 && Object.hasOwn(labels, name) && labels[name] === on.slice(at + 1)
}

function first(hosts: readonly Host[], keyOf: (host: Host) => string): Host {
  const [host] = hosts.map((each) => ({ each, key: keyOf(each) })).toSorted((a, b) => (a.key < b.key ? -1 : 1))
  if (host === undefined) throw new AgentprotoError('internal', 'There is no host to choose')
  return host.each
}

/** Most free places first; of as many, the host that was asked, then by name. */
const mostFree = ({ freeSessions, self, name }: Host): string =>
  [String(1_000_000_000 - freeSessions).padStart(10, '0'), self === true ? '0' : '1', name].join(' ')

/** Each key prefers the hosts in an order of its own. */
const rank = (key: string, { name }: Host): string =>
  createHash('sha256')
    .update(JSON.stringify([key, name]))
    .digest('hex')

const unknownHost = (on: string, hosts: readonly Host[]): AgentprotoError =>
  new AgentprotoError('host_not_found', 'No host of the fleet has this name', {
    expected: `any, a label as key=value, or one of ${hosts
      .map(({ name }) => name)
      .slice(0, 20)
      .join(', ')}`,
    given: on,
    hint: 'List the hosts with: agentproto hosts',
  })

const unreachable = ({ name, lastSeen }: Host): AgentprotoError =>
  new AgentprotoError('host_unreachable', `The host ${name} was last heard from at ${lastSeen}`, {
    hint: 'Start it, or choose another one of: agentproto hosts',
    data: { host: name, retryAfter: RETRY_SECONDS },
  })

const RETRY_SECONDS = 5

/** The message names some hosts, the data all. */
function refused(problem: string, hosts: Lacks): AgentprotoError {
  const some = Object.entries(hosts)
    .slice(0, 5)
    .map(([name, lacks]) => `${name} lacks ${lacks.join(', ')}`)
  return new AgentprotoError('placement_refused', `${problem}: ${some.join('; ')}`, {
    hint: 'See what each host has with: agentproto hosts',
    data: { hosts },
  })
}
