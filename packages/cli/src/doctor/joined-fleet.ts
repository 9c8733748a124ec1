import type { FleetState, GatewayInfo, Host } from '@agentproto/contracts/wire'
import type { Finding } from './finding.js'

/** Calls between hosts fail when their clocks differ by more than 30 s. */
export const MAX_CLOCK_MS = 10_000
export const NTP = 'Set the clocks by NTP: calls between hosts are refused when theirs differ by more than 30 s'

/** What the running gateway knows of its fleet. @returns undefined for a gateway that belongs to none */
export function joinedFleet({ fleet }: GatewayInfo, hosts: readonly Host[]): Finding | undefined {
  if (fleet === undefined) return undefined
  const { host, joined, problem, nats } = fleet
  if (!joined || nats === undefined) {
    const why = problem ?? 'it has not had its lease since its last heartbeat was stored'
    return {
      verdict: 'fail',
      detail: `the gateway is alone, and not the host ${host} of its fleet: ${why}`,
      hint: 'See docs/fleet.md',
    }
  }
  const detail = [`${host} at ${natsText(nats)}`, hostsText(hosts), `lag ${fleet.lag}`].join('; ')
  const [worst] = problemsOf(fleet, { nats, hosts })
  if (worst === undefined) return { verdict: 'ok', detail }
  return { verdict: 'warn', detail: `${detail}; ${worst.problem}`, hint: worst.hint }
}

const UNGUARDED = 'Two hosts could run one session while this gateway is frozen; see docs/keeper.md'

export const natsText = ({
  version,
  servers,
  replicas,
}: Pick<NonNullable<FleetState['nats']>, 'version' | 'servers' | 'replicas'>): string =>
  `nats-server ${version}, ${counted(servers, 'server')}, ${counted(replicas, 'replica')}`

export const clockText = (whose: string, aheadMs: number): string =>
  `${whose} is ${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? 'ahead' : 'behind'}`

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

function hostsText(hosts: readonly Host[]): string {
  const lost = hosts.filter(({ reachable, stopped }) => !reachable && stopped !== true)
  const names = lost.length === 0 ? '' : `, unreachable: ${lost.map(({ name }) => name).join(', ')}`
  return `${counted(hosts.length, 'host')}${names}`
}

interface Problem {
  readonly problem: string
  readonly hint: string
}

interface Found {
  readonly nats: NonNullable<FleetState['nats']>
  readonly hosts: readonly Host[]
}

/** The one with the gravest consequence first. */
function problemsOf({ clockAheadMs = 0, unguarded }: FleetState, { nats, hosts }: Found): readonly Problem[] {
  const clocks = hosts.flatMap(({ name, clockAheadMs: ahead = 0 }) =>
    Math.abs(ahead) > MAX_CLOCK_MS ? [clockText(`the clock of ${name}`, ahead)] : [],
  )
  const own = Math.abs(clockAheadMs) > MAX_CLOCK_MS ? [clockText('the clock of this machine', clockAheadMs)] : []
  const all = [...own, ...clocks]
  return [
    ...(unguarded === undefined ? [] : [{ problem: unguarded, hint: UNGUARDED }]),
    ...(all.length === 0 ? [] : [{ problem: all.join(', '), hint: NTP }]),
    ...(nats.servers >= 3 && nats.replicas < 3
      ? [
          {
            problem: 'what one server has stored is lost with it',
            hint: 'Give a gateway the right to change its streams and restart it, or give each stream three replicas with the tools of NATS',
          },
        ]
      : []),
  ]
}
