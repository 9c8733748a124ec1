// What an ACP agent must do before it is published, as a report. This file is the subpath's contract: every export is named here.
export { commandAdapter, type AgentCommandLine, type CommandAdapter } from './command-adapter.js'
export { entryFindings, type CheckedEntry, type EntryCheck, type EntryTarget } from './entry-findings.js'
export { publishCheck, type PublishCheck } from './publish-check.js'
export { finding, PUBLISH_CHECKS, type PublishCheckId, type PublishFinding, type Verdict } from './publish-finding.js'
export { publishReport, type PublishReport } from './publish-report.js'
export type { CaseLimitsOfReport } from './session-findings.js'
