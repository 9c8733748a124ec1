import type { DoctorCheck, DoctorRequest } from '@agentproto/contracts/wire'
import type { AgentRecord } from '../agent-record.js'

export interface Examination extends Pick<AgentRecord, 'adapter' | 'host'> {
  readonly request: DoctorRequest
}

/** The context of the parts of an examination. */
export interface RunningExamination extends Examination {
  readonly report: (check: DoctorCheck) => void
  readonly signal: AbortSignal
}
