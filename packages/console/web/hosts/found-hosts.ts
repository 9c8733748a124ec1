import type { Host } from '@agentproto/contracts/wire'
import { hostState, type HostState } from './host-state.js'

const ORDER: Readonly<Record<HostState, number>> = { unreachable: 0, stopped: 1, reachable: 2 }

/** Hosts that have all of the words in their name, labels, workspaces, agents or version: those that are lost first, then those that were stopped, then by name. */
export function foundHosts(hosts: readonly Host[], words: string): readonly Host[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  return hosts
    .filter((host) => wanted.every((word) => searchable(host).includes(word)))
    .toSorted((a, b) => ORDER[hostState(a)] - ORDER[hostState(b)] || a.name.localeCompare(b.name))
}

const searchable = ({ name, labels, workspaces, adapters, version, ...host }: Host): string =>
  [
    name,
    hostState(host),
    ...Object.entries(labels).map(([label, value]) => `${label}=${value}`),
    ...workspaces,
    ...adapters,
    version,
  ]
    .join(' ')
    .toLowerCase()
