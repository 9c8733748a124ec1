// The examination of an adapter's agent. This file is the subpath's contract: every export is named here.
export { examineAgent } from './doctor/examine-agent.js'
export type { Examination } from './doctor/examination.js'
