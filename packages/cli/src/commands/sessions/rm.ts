import type { Define } from '../../cli-command.js'
import { print, printJson, warn, type CliContext } from '../../cli-context.js'
import type { JsonOption } from '../../command-definition.js'
import { connect } from '../../daemon/connect.js'
import { withProgress } from '../../progress.js'
import { keptWorktree } from '../../render/kept-worktree.js'
import { findSession } from '../../session-ref.js'

export const define: Define = (command) =>
  command
    .description('remove sessions and their logs, and print the id of each; running ones are killed first')
    .argument('<id...>')
    .json()
    .examples('sessions rm try')
    .run(remove)

async function remove(context: CliContext, refs: readonly string[], { json }: JsonOption): Promise<void> {
  const client = await connect(context)
  const removed = []
  for (const ref of refs) {
    const { id } = await findSession(client, ref)
    const result = await withProgress(context, `Removing ${id}`, () => client.sessions.remove(id))
    removed.push(result)
    if (result.keptWorktree !== undefined) warn(context, keptWorktree(result.keptWorktree))
    if (json !== true) print(context.stdout, id)
  }
  if (json === true) printJson(context, { sessions: removed })
}
