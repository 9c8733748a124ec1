import { AGENT_CASE_IDS } from '@agentproto/contracts/agent'

/** What is checked of an agent before it is published, in the order of a report. */
export const PUBLISH_CHECKS = [
  'entry',
  'platform',
  'install',
  'handshake',
  'stdout',
  'session',
  'exit',
  'left',
  ...AGENT_CASE_IDS,
] as const
export type PublishCheckId = (typeof PUBLISH_CHECKS)[number]

interface Finding {
  readonly id: PublishCheckId
  /** What is true of an agent that passes. */
  readonly title: string
}

/** The result of one check. */
export type PublishFinding =
  | (Finding & {
      readonly verdict: 'pass'
      readonly seen: string
      /** Name and version that the agent gives itself; of the handshake. */
      readonly agent?: string
    })
  | (Finding & {
      readonly verdict: 'fail'
      readonly expected: string
      readonly seen: string
      /** What its author can do. */
      readonly advice: string
    })
  | (Finding & { readonly verdict: 'skipped'; readonly reason: string })

export type Verdict =
  | { readonly verdict: 'pass'; readonly seen: string; readonly agent?: string }
  | { readonly verdict: 'fail'; readonly expected: string; readonly seen: string }
  | { readonly verdict: 'skipped'; readonly reason: string }

/** The finding of a check, with what the check's text says. */
export function finding(id: PublishCheckId, verdict: Verdict): PublishFinding {
  const { title, advice } = TEXTS[id]
  return verdict.verdict === 'fail' ? { id, title, ...verdict, advice } : { id, title, ...verdict }
}

const TEXTS: Readonly<Record<PublishCheckId, { readonly title: string; readonly advice: string }>> = {
  entry: { title: 'The entry is valid', advice: 'Correct the entry; its form is that of the registry’s schema' },
  platform: { title: 'It can be had for this machine', advice: 'Add a way for this platform: npx, uvx or a binary' },
  install: { title: 'It installs', advice: 'Install it by hand, with an empty home, to see what fails' },
  handshake: {
    title: 'It answers initialize',
    advice: 'Answer `initialize` with protocolVersion 1 at once, before a login and without a network',
  },
  stdout: { title: 'Its stdout has nothing but messages', advice: 'Write banners, logs and progress to stderr' },
  session: {
    title: 'A session opens, or names a login',
    advice: 'Answer `session/new`; without a login with error -32000, and name the ways to log in in `authMethods`',
  },
  exit: {
    title: 'It ends when its stdin ends',
    advice: 'Exit when stdin ends: an editor that crashes sends no signal',
  },
  left: { title: 'It leaves no process running', advice: 'End what it starts before it exits, also daemons' },
  answer: {
    title: 'It answers a prompt',
    advice: 'Send text as `agent_message_chunk`, then answer `session/prompt` once',
  },
  stream: { title: 'Its text comes in pieces', advice: 'Send each piece when the model gives it' },
  tool: {
    title: 'A tool call gets its result',
    advice: 'End each call with a `tool_call_update` of completed or failed',
  },
  permission: {
    title: 'It asks, and takes the answer',
    advice: 'Send `session/request_permission` with options to allow and to reject, and go on with the answer',
  },
  cancel: {
    title: 'A cancelled turn ends within a second',
    advice: 'On `session/cancel`, stop the model and the tools, and answer the prompt with stopReason cancelled',
  },
  'permission-cancel': {
    title: 'A cancel while it asks ends the turn',
    advice: 'Take the outcome `cancelled` of a permission request, and answer the prompt with stopReason cancelled',
  },
  load: {
    title: 'A conversation goes on after a restart',
    advice: 'Store conversations, or do not announce `loadSession`',
  },
  end: { title: 'It ends', advice: 'Exit on the end of stdin and on SIGTERM' },
  'end-in-turn': { title: 'It ends in the middle of a turn', advice: 'Stop the turn when stdin ends or SIGTERM comes' },
}
