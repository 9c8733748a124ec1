import type { DoctorCheck, DoctorRequest } from '@agentproto/contracts'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import type { ProvisionHost } from '../provision-host.js'

export interface Examination {
  readonly adapter: LoadedAgentCli
  readonly host: ProvisionHost
  readonly request: DoctorRequest
}

/** What the parts of an examination are given. */
export interface Examining extends Examination {
  readonly tell: (check: DoctorCheck) => void
  readonly signal: AbortSignal
}
