import { EXIT } from '@agentproto/contracts'
import { connect } from '../daemon/daemon.js'
import { print, printJson, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { findSession } from '../session-ref.js'

export interface RepairOptions extends JsonOption {
  readonly dryRun?: boolean
}

/** `agentproto sessions repair`: exits with 1 while something is wrong that was not mended. */
export async function repairSession(io: Io, ref: string, { dryRun = false, json }: RepairOptions): Promise<number> {
  const client = await connect(io)
  const { id } = await findSession(client, ref)
  const report = await client.archive.repair(id, { dryRun })
  const { findings } = report
  if (json === true) printJson(io, report)
  else if (findings.length === 0) print(io.stdout, `${id} is whole.`)
  else
    for (const { kind, detail, mended } of findings)
      print(io.stdout, `${mended ? 'mended' : 'found '}  ${kind}: ${detail}`)
  return findings.every(({ mended }) => mended) ? EXIT.ok : EXIT.failed
}
