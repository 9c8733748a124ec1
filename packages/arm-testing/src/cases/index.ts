// What an agent does in a session, as cases that need no test runner. This file is the subpath's contract: every export is named here.
export { AGENT_CASES, runCase, type CaseOutcome } from './agent-cases.js'
export type { AgentCase, CaseAgent, CaseAround, CaseLimits, CasePrompts } from './agent-case.js'
export { RecordingSink } from '../recording-sink.js'
