import type { HomeKeeper } from '@agentproto/keeper'
import { endProcesses, findMarkedProcesses, type MarkedProcess } from '@agentproto/subprocess'

/** From SIGTERM to SIGKILL, in milliseconds. */
const TERM_GRACE_MS = 2_000

/** The processes of commands that a gateway runs, or an earlier one ran, for the agents that a keeper holds. Never rejects. */
export async function hostedCommands(
  keeper: Pick<HomeKeeper, 'list'>,
  onProblem: (problem: string) => void,
): Promise<readonly MarkedProcess[]> {
  try {
    const keys = new Set((await keeper.list()).map(({ key }) => key))
    return keys.size === 0 ? [] : findMarkedProcesses().filter(({ marker }) => isOfCommand(marker, keys))
  } catch (thrown) {
    onProblem(thrown instanceof Error ? thrown.message : String(thrown))
    return []
  }
}

/**
 * Ends what an earlier gateway ran. Called before an agent goes on and has new commands run: resolves when the old ones are found.
 * They may take the time that they need to end.
 */
export async function endEarlierCommands({ keeper, onProblem }: Keeping): Promise<void> {
  if (keeper !== undefined) void endCommands(await hostedCommands(keeper, onProblem), onProblem)
}

interface Keeping {
  readonly keeper: HomeKeeper | undefined
  readonly onProblem: (problem: string) => void
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
