import type { AgentProcessInfo, StoredSession } from '@agentproto/contracts'
import { endProcesses, findMarkedProcesses, identify } from '@agentproto/subprocess'

/**
 * Ends what a gateway that died left running of a session: found by the session's marker in the environment,
 * and by the child's pid with its start time. A reused pid has another start time and is left alone
 * (failure modes 29, 43).
 */
export async function endLeftovers(
  { session, process }: StoredSession,
  onProblem: (problem: string) => void,
): Promise<void> {
  const child: AgentProcessInfo | undefined = process
  // The processes of several sessions carry a marker of their own; whoever of them is first ends them all.
  const shared = child?.marker === undefined ? [] : findMarkedProcesses(child.marker)
  const marked = [...findMarkedProcesses(session.id), ...shared]
  const recorded = child !== undefined && identify(child.pid)?.startTime === child.startTime ? [child] : []
  const leftovers = [...marked, ...recorded.filter(({ pid }) => !marked.some((each) => each.pid === pid))]
  if (leftovers.length === 0) return
  onProblem(`Ended ${leftovers.length} process(es) that an earlier gateway left of session ${session.id}`)
  await endProcesses(leftovers, { termGraceMs: 2_000 })
}
