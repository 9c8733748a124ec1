/** What an agent does in a session, as it is checked before it is published; in the order of a report. */
export const AGENT_CASE_IDS = [
  'answer',
  'stream',
  'tool',
  'permission',
  'cancel',
  'permission-cancel',
  'load',
  'end',
  'end-in-turn',
] as const
export type AgentCaseId = (typeof AGENT_CASE_IDS)[number]
