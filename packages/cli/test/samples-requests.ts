import type { PermissionOption, QuestionRequest, RequestFacts, ToolCall } from '@agentproto/contracts'
import type { AskedRequest } from '../src/render/request-content.js'
import { session } from './samples.js'

const OPTIONS: readonly PermissionOption[] = [
  { optionId: 'once', name: 'Allow', kind: 'allow_once' },
  { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
]

export const factsOf = (facts: Partial<RequestFacts> = {}): RequestFacts => ({
  toolKind: 'other',
  commands: [],
  folders: [],
  paths: [],
  urls: [],
  unclear: false,
  ...facts,
})

/** A permission request of a session in `/work`. */
export const permissionFor = (
  call: Partial<ToolCall> = {},
  facts: RequestFacts | undefined = factsOf(),
  options = OPTIONS,
): AskedRequest => ({
  requestId: 'r1',
  request: { kind: 'permission', toolCall: { type: 'tool-call', toolCallId: 't', title: 'Do it', ...call }, options },
  facts,
  session: session({ label: 'try' }),
})

export const question = (fields: Partial<QuestionRequest> = {}): AskedRequest => ({
  requestId: 'q1',
  request: { kind: 'question', message: 'Which?', mode: 'form', ...fields },
  session: session({ label: 'try' }),
})
