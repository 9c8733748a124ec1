import type { DoctorCheck } from '@agentproto/contracts/wire'

/** What a check found. */
export type Finding = Omit<DoctorCheck, 'id' | 'title'>
