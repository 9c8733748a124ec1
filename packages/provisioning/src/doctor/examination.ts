import type { DoctorCheck, DoctorRequest } from '@agentproto/contracts/wire'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import type { ProvisionHost } from '../provision-host.js'

export interface Examination {
  readonly adapter: LoadedAgentCli
  readonly host: ProvisionHost
  readonly request: DoctorRequest
}

/** The context of the parts of an examination. */
export interface RunningExamination extends Examination {
  readonly report: (check: DoctorCheck) => void
  readonly signal: AbortSignal
}
