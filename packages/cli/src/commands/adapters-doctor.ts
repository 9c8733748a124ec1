import { EXIT, type DoctorCheck } from '@agentproto/contracts'
import { adaptersOf } from '../adapters/adapters-of.js'
import { paintOf, print, printJson, type Io } from '../io.js'
import { checkLines, checksSummary } from '../render/checks.js'
import { interruptible } from '../signals.js'

export interface DoctorOptions {
  readonly live?: boolean
  readonly prompt?: string
  readonly longPrompt?: string
  readonly json?: boolean
}

/** `agentproto adapters doctor`: exit code 1 when a check has failed; warnings alone pass. */
export function examineAdapter(io: Io, slug: string, { json, ...request }: DoctorOptions): Promise<number> {
  return interruptible(async (signal) => {
    const adapters = await adaptersOf(io)
    const paint = paintOf(io, io.stdout)
    const checks: DoctorCheck[] = []
    for await (const check of adapters.doctor(slug, { ...request, signal })) {
      checks.push(check)
      if (json !== true) print(io.stdout, checkLines(check, paint))
    }
    const ok = checks.every(({ verdict }) => verdict !== 'fail')
    if (json === true) printJson(io, { slug, ok, checks })
    else print(io.stdout, checksSummary(checks, paint))
    return ok ? EXIT.ok : EXIT.failed
  })
}
