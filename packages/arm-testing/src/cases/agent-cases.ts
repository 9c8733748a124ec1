import type { AgentCaseId } from '@agentproto/contracts/agent'
import { type AgentCase, type CaseAround, CaseFailure, CaseSkipped } from './agent-case.js'
import { cancelCase, endCase, endInTurnCase } from './ending-cases.js'
import { permissionCancelCase, permissionCase } from './permission-cases.js'
import { answerCase, loadCase, streamCase, toolCase } from './turn-cases.js'

/** All cases by id, in the order in which they are best run: what the later ones need comes first. */
export const AGENT_CASES: Readonly<Record<AgentCaseId, AgentCase>> = {
  answer: answerCase,
  stream: streamCase,
  tool: toolCase,
  permission: permissionCase,
  cancel: cancelCase,
  'permission-cancel': permissionCancelCase,
  load: loadCase,
  end: endCase,
  'end-in-turn': endInTurnCase,
}

export type CaseOutcome =
  | { readonly verdict: 'pass'; readonly seen: string }
  | { readonly verdict: 'fail'; readonly expected: string; readonly seen: string }
  | { readonly verdict: 'skipped'; readonly reason: string }

/** Runs one case; what goes wrong in it is its outcome. The agent is ended by the caller. */
export async function runCase({ about, run }: AgentCase, around: CaseAround): Promise<CaseOutcome> {
  if (about !== 'none' && around.prompts[about] === undefined)
    return { verdict: 'skipped', reason: 'no prompt was given that makes the agent do it' }
  try {
    return { verdict: 'pass', seen: await run(around) }
  } catch (thrown) {
    if (thrown instanceof CaseSkipped) return { verdict: 'skipped', reason: thrown.message }
    if (thrown instanceof CaseFailure) return { verdict: 'fail', expected: thrown.expected, seen: thrown.seen }
    const seen = thrown instanceof Error ? thrown.message : String(thrown)
    return { verdict: 'fail', expected: 'no error', seen }
  }
}
