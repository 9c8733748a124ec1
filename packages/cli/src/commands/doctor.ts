import { EXIT, type DoctorCheck } from '@agentproto/contracts'
import { homeOf } from '../daemon/daemon-record.js'
import { adaptersCheck, daemonCheck } from '../doctor/daemon-checks.js'
import { homeChecks } from '../doctor/home-checks.js'
import { hostChecks } from '../doctor/host-checks.js'
import { paintOf, print, printJson, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { withProgress } from '../progress.js'
import { checkLines, checksSummary } from '../render/checks.js'

/** `agentproto doctor`: exit code 1 when a check has failed; warnings alone pass. */
export async function doctor(io: Io, { json }: JsonOption): Promise<number> {
  const checks = await withProgress(io, 'Examining', () => examine(io))
  const ok = checks.every(({ verdict }) => verdict !== 'fail')
  const paint = paintOf(io, io.stdout)
  if (json === true) printJson(io, { ok, checks })
  else print(io.stdout, [...checks.flatMap((check) => checkLines(check, paint)), checksSummary(checks, paint)])
  return ok ? EXIT.ok : EXIT.failed
}

/** Everything that can be looked at without changing anything. */
export async function examine(io: Io): Promise<readonly DoctorCheck[]> {
  const home = homeOf(io)
  return [...(await hostChecks(io, home)), ...(await homeChecks(home)), await daemonCheck(io), await adaptersCheck(io)]
}
