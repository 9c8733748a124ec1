import type { AgentProcessInfo, StoredSession } from '@agentproto/contracts/agent'
import { endProcesses, findMarkedProcesses, identify } from '@agentproto/subprocess'

/**
 * Ends the processes of a session that a dead gateway left. They are found by the session's marker in their environment, and by
 * the child's pid with its start time: a reused pid has another start time and is not touched (failure modes 29, 43).
 */
export async function endLeftovers(
  { session, process }: StoredSession,
  onProblem: (problem: string) => void,
): Promise<void> {
  const child: AgentProcessInfo | undefined = process
  // A process that several sessions share has a marker of its own; the first session that is repaired ends it.
  const shared = child?.marker === undefined ? [] : findMarkedProcesses(child.marker)
  const marked = [...findMarkedProcesses(session.id), ...shared]
  const recorded = child !== undefined && identify(child.pid)?.startTime === child.startTime ? [child] : []
  const leftovers = [...marked, ...recorded.filter(({ pid }) => !marked.some((each) => each.pid === pid))]
  if (leftovers.length === 0) return
  onProblem(`Ended ${leftovers.length} process(es) of session ${session.id} that an earlier gateway left`)
  await endProcesses(leftovers, { termGraceMs: 2_000 })
}
