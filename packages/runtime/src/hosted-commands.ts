import type { HomeKeeper, ListedAgent } from '@agentproto/keeper'
import { endProcesses, findMarkedProcesses, type MarkedProcess } from '@agentproto/subprocess'
import { heldAgents } from './open-agent-keeper.js'

/** From SIGTERM to SIGKILL, in milliseconds. */
const TERM_GRACE_MS = 2_000

/** The processes of commands that a gateway runs, or an earlier one ran, for the agents that a keeper holds. Never rejects. */
export const hostedCommands = async (
  keeper: Pick<HomeKeeper, 'list'>,
  onProblem: (problem: string) => void,
): Promise<readonly MarkedProcess[]> => commandsFor(await heldAgents(keeper, onProblem), onProblem)

/**
 * Ends what an earlier gateway ran for its agents. Called before an agent goes on and has new commands run: the old ones are found
 * when it returns. They may take the time that they need to end.
 */
export const endEarlierCommands = (agents: readonly ListedAgent[], onProblem: (problem: string) => void): void =>
  void endCommands(commandsFor(agents, onProblem), onProblem)

function commandsFor(agents: readonly ListedAgent[], onProblem: (problem: string) => void): readonly MarkedProcess[] {
  const keys = new Set(agents.map(({ key }) => key))
  if (keys.size === 0) return []
  try {
    return findMarkedProcesses().filter(({ marker }) => isOfCommand(marker, keys))
  } catch (thrown) {
    onProblem(thrown instanceof Error ? thrown.message : String(thrown))
    return []
  }
}

/** Commands end with their gateway, also when their agents do not. Never rejects. */
export async function endCommands(
  commands: readonly MarkedProcess[],
  onProblem: (problem: string) => void,
): Promise<void> {
  if (commands.length === 0) return
  onProblem(`Ended ${commands.length} process(es) of commands that a gateway ran for agents that go on without it`)
  await endProcesses(commands, { termGraceMs: TERM_GRACE_MS }).catch((thrown: unknown) => onProblem(String(thrown)))
}

/** The marker of a command is below that of its agent. */
function isOfCommand(marker: string, keys: ReadonlySet<string>): boolean {
  const at = marker.indexOf('/')
  return at > 0 && keys.has(marker.slice(0, at))
}
