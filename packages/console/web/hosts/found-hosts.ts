import type { Host } from '@agentproto/contracts/wire'

/** Hosts that have all of the words in their name, labels, workspaces, agents or version: those that are away first, then by name. */
export function foundHosts(hosts: readonly Host[], words: string): readonly Host[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  return hosts
    .filter((host) => wanted.every((word) => searchable(host).includes(word)))
    .toSorted((a, b) => Number(a.reachable) - Number(b.reachable) || a.name.localeCompare(b.name))
}

const searchable = ({ name, reachable, labels, workspaces, adapters, version }: Host): string =>
  [
    name,
    reachable ? 'reachable' : 'unreachable',
    ...Object.entries(labels).map(([label, value]) => `${label}=${value}`),
    ...workspaces,
    ...adapters,
    version,
  ]
    .join(' ')
    .toLowerCase()
