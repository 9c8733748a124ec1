// The examination of an adapter's agent. This file is the subpath's contract: every export is named here.
export { examineAgent } from './examine-agent.js'
export type { Examination } from './examination.js'
