import { existsSync } from 'node:fs'
import { defined } from '@agentproto/contracts'
import type { HomeLayout } from '@agentproto/contracts/agent'
import { byteCount } from '../doctor/byte-count.js'

/** The process that holds the pipes of a home's agents, and what it holds. */
export interface KeeperState {
  readonly pid: number
  /** Version of its program. */
  readonly build: string
  /** Version of its wire. */
  readonly wire: number
  /** Agents that live. */
  readonly agents: number
  /** Those in a turn. */
  readonly busy: number
  /** What agents and gateway wrote since the last idle point of each agent, and what no gateway has handled yet. */
  readonly keptBytes: number
  /** Why it does not read what some agent writes. */
  readonly stalled?: 'full' | 'disk'
  /** The process that controls it, as that says itself; 0 if it does not. */
  readonly controller?: number
}

/** Looks at the keeper beside its gateway. @returns undefined when none is alive. @throws `keeper_unavailable` */
export async function keeperState({ keeper }: HomeLayout): Promise<KeeperState | undefined> {
  // Most homes of one-shot commands have none, and need not load its client.
  if (!existsSync(keeper)) return undefined
  const { lookAtKeeper } = await import('@agentproto/keeper')
  const seen = await lookAtKeeper(keeper)
  if (seen === undefined) return undefined
  const living = seen.agents.filter(({ hasEnded }) => !hasEnded)
  const stalled = living.find((agent) => agent.stalled !== undefined)?.stalled
  return {
    ...seen.info,
    agents: living.length,
    busy: living.filter(({ isBusy }) => isBusy).length,
    keptBytes: seen.agents.reduce((sum, { keptBytes }) => sum + keptBytes, 0),
    ...defined({ stalled, controller: seen.controller }),
  }
}

/** Whether it ends agents that its gateway cannot end in time; true where there is none. @throws `keeper_unavailable` */
export async function guardsAgents({ keeper }: HomeLayout): Promise<boolean> {
  if (!existsSync(keeper)) return true
  const { guardsIn, lookAtKeeper } = await import('@agentproto/keeper')
  const seen = await lookAtKeeper(keeper)
  return seen === undefined || guardsIn(seen.info.wire)
}

export function keeperText({ pid, build, wire, agents, busy, keptBytes, stalled }: KeeperState): string {
  const held = agents === 0 ? 'no agent' : `${agents} agent${agents === 1 ? '' : 's'}, ${busy} in a turn`
  const waiting =
    stalled === undefined ? '' : stalled === 'disk' ? '; the disk is full' : '; an agent waits for a gateway'
  return `${build}, wire ${wire}, pid ${pid}: ${held}, ${byteCount(keptBytes)} kept${waiting}`
}
