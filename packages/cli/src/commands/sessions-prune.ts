import { EXIT } from '@agentproto/contracts'
import { connect } from '../daemon/daemon.js'
import { print, printJson, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'

export interface PruneOptions extends JsonOption {
  /** Milliseconds. */
  readonly olderThan: number
  readonly dryRun?: boolean
}

/** `agentproto sessions prune`: prints the id of each session that went, or would. */
export async function pruneSessions(io: Io, { olderThan, dryRun = false, json }: PruneOptions): Promise<number> {
  const client = await connect(io)
  const result = await client.archive.prune({ olderThanMs: olderThan, dryRun })
  if (json === true) printJson(io, result)
  else for (const { id } of result.pruned) print(io.stdout, id)
  const { length } = result.pruned
  const what = `${length} session${length === 1 ? '' : 's'}`
  print(io.stderr, dryRun ? `${what} would be forgotten.` : `${what} forgotten.`)
  return EXIT.ok
}
