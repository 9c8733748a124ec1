import { type AdapterSummary, isAgentprotoError, type WorkspacesFile } from '@agentproto/client'
import type { Host } from '@agentproto/contracts/wire'

/** `on` of a start: empty for the host that serves this page, a name, a label as `key=value`, or `any`. */
export type Placement = string

/** All labels that hosts have, as `on` names them. */
export const labelsOf = (hosts: readonly Host[]): readonly string[] =>
  [
    ...new Set(hosts.flatMap(({ labels }) => Object.entries(labels).map(([key, value]) => `${key}=${value}`))),
  ].toSorted()

/** The hosts that one of them is chosen from. */
export function candidatesOf(on: Placement, hosts: readonly Host[]): readonly Host[] {
  if (on === '') return hosts.filter(({ self }) => self === true)
  if (on === 'any') return hosts
  // The name of a host has no `=`.
  return on.includes('=')
    ? hosts.filter((host) => labelsOf([host]).includes(on))
    : hosts.filter(({ name }) => name === on)
}

/** An agent that can be chosen. */
export interface AgentChoice {
  readonly slug: string
  readonly name: string
  readonly isInstalled: boolean
  /** What the host that serves this page knows of it: it may not have what another host has. */
  readonly adapter?: AdapterSummary
}

/** The agents of a placement, installed ones first; of a host that is not known, those of the host that serves this page. */
export function agentsAt(
  on: Placement,
  hosts: readonly Host[],
  adapters: readonly AdapterSummary[],
): readonly AgentChoice[] {
  const candidates = on === '' ? [] : candidatesOf(on, hosts)
  const there = new Set(candidates.flatMap((host) => host.adapters))
  const known = adapters.map((adapter): AgentChoice => {
    const { slug, name, installed } = adapter
    return { slug, name, isInstalled: candidates.length === 0 ? installed : there.has(slug), adapter }
  })
  const slugs = new Set(adapters.map(({ slug }) => slug))
  const others = [...there].filter((slug) => !slugs.has(slug))
  return [...known, ...others.map((slug): AgentChoice => ({ slug, name: slug, isInstalled: true }))].toSorted(
    (a, b) => Number(b.isInstalled) - Number(a.isInstalled) || a.name.localeCompare(b.name),
  )
}

/** A workspace that can be chosen; an empty slug is the active one of the host. */
export interface WorkspaceChoice {
  readonly slug: string
  readonly text: string
}

/** The workspaces of a placement. Only those of the host that serves this page have a known folder. */
export function workspacesAt(
  on: Placement,
  hosts: readonly Host[],
  { workspaces }: WorkspacesFile,
): readonly WorkspaceChoice[] {
  if (on === '') return workspaces.map(({ slug, path }) => ({ slug, text: `${slug} (${path})` }))
  const slugs = new Set(candidatesOf(on, hosts).flatMap((host) => host.workspaces))
  return [
    { slug: '', text: 'the active one of the host' },
    ...[...slugs].toSorted().map((slug) => ({ slug, text: slug })),
  ]
}

/** Says in a line what a placement means now. */
export function placementText(on: Placement, hosts: readonly Host[]): string {
  if (hosts.length === 0) return ''
  const candidates = candidatesOf(on, hosts)
  const [first] = candidates
  if (first === undefined) return on.includes('=') ? 'No host has this label.' : 'No host has this name.'
  if (on !== 'any' && !on.includes('=')) return hostText(first)
  const heard = candidates.filter(({ reachable }) => reachable)
  if (heard.length === 0) return 'None of these hosts is heard from.'
  return heard.length === 1
    ? `It runs on ${heard[0]?.name ?? ''}.`
    : `The one of ${heard.length} hosts that has the agent, the workspace and the most free places takes it.`
}

const hostText = ({ reachable, stopped, liveSessions, freeSessions, lastSeen }: Host): string => {
  if (reachable) return `${liveSessions} live sessions, ${freeSessions} free places`
  return `${stopped === true ? 'Stopped' : 'Not heard from since'} ${new Date(lastSeen).toLocaleString()}`
}

/** What a host lacks that a session needs. */
export interface Lack {
  readonly host: string
  readonly lacks: readonly string[]
}

/** Why the gateway did not start a session where it should run. */
export interface RefusedPlacement {
  readonly problem: string
  readonly lacks: readonly Lack[]
}

/** What each host lacks, where a placement was refused; nothing for any other error. */
export function lacksIn(thrown: unknown): readonly Lack[] {
  if (!isAgentprotoError(thrown) || thrown.code !== 'placement_refused') return []
  const { hosts } = thrown.parts.data ?? {}
  if (typeof hosts !== 'object' || hosts === null) return []
  return Object.entries(hosts).flatMap(([host, lacks]: [string, unknown]) =>
    Array.isArray(lacks) ? [{ host, lacks: lacks.map(String) }] : [],
  )
}
