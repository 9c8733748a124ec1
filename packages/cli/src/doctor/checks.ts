import type { DoctorCheck } from '@agentproto/contracts/wire'
import type { CliContext } from '../cli-context.js'
import { homeOf } from '../daemon/daemon-record.js'
import { adaptersCheck, daemonCheck } from './daemon-checks.js'
import { homeChecks } from './home-checks.js'
import { hostChecks } from './host-checks.js'

/** Every check of `agentproto doctor`. None changes anything. */
export async function runChecks(context: CliContext): Promise<readonly DoctorCheck[]> {
  const home = homeOf(context)
  return [
    ...(await hostChecks(context, home)),
    ...(await homeChecks(home)),
    await daemonCheck(context),
    await adaptersCheck(context),
  ]
}
