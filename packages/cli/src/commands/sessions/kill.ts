import { defined } from '@agentproto/contracts'
import type { Define } from '../../cli-command.js'
import { print, printJson, type CliContext } from '../../cli-context.js'
import type { JsonOption } from '../../command-definition.js'
import { connect } from '../../daemon/connect.js'
import { withProgress } from '../../progress.js'
import { findSession } from '../../session-ref.js'

const REASONS = ['user_canceled', 'max_iterations', 'loop_detected', 'budget_exceeded'] as const

type KillOptions = JsonOption & { readonly reason?: (typeof REASONS)[number] }

export const define: Define = (command) =>
  command
    .description('kill sessions with all their processes, and print the id of each')
    .argument('<id...>')
    .choice('--reason <reason>', 'reason to record', REASONS)
    .json()
    .examples('sessions kill try', 'sessions kill s_1a2b s_3c4d --reason budget_exceeded')
    .run(kill)

async function kill(context: CliContext, refs: readonly string[], { reason, json }: KillOptions): Promise<void> {
  const client = await connect(context)
  const sessions: Killed[] = []
  try {
    for (const ref of refs) {
      const { id } = await findSession(client, ref)
      const result = await withProgress(context, `Killing ${id}`, () => client.sessions.kill(id, defined({ reason })))
      sessions.push(result)
      if (json !== true) printKilled(context, result)
    }
  } finally {
    // Also after an error: what was killed before it stays killed.
    if (json === true) printJson(context, { sessions })
  }
}

interface Killed {
  readonly id: string
  readonly ok: boolean
}

function printKilled({ stdout, stderr }: CliContext, { id, ok }: Killed): void {
  print(stdout, id)
  if (!ok) print(stderr, `${id} had already ended.`)
}
