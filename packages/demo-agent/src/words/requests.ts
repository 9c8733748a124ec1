import type {
  CreateElicitationRequest,
  PermissionOption,
  RequestPermissionRequest,
  SendRequestOptions,
} from '@agentclientprotocol/sdk'
import type { Turn } from '../turn.js'
import { fileToWrite, writeTool } from './files.js'
import { announceTool, finishTool, pendingCall, type ToolStart } from './tool-call.js'

const OPTIONS: PermissionOption[] = [
  { optionId: 'allow', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
  { optionId: 'never', name: 'Always reject', kind: 'reject_always' },
]

export async function ask(turn: Turn, argument: string): Promise<void> {
  const file = fileToWrite(turn, argument)
  if (turn.session.state.modeId === 'plan') return turn.say(`I would ask to write ${file.name}.`)
  const toolCallId = announceTool(turn, file.start)
  const { allowed, reason } = turn.session.alwaysAllowed.has('write')
    ? { allowed: true }
    : await askFor(turn, file.start, toolCallId)
  if (!allowed) {
    turn.update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'failed' })
    turn.remember({ kind: 'tool', toolCallId, title: file.start.title, toolKind: 'edit', failed: true })
    return turn.say(`I was not allowed to write ${file.name}.${reason === undefined ? '' : ` Reason: ${reason}`}`)
  }
  const done = await finishTool(turn, { ...file.start, toolCallId }, () => writeTool(turn, file))
  turn.say(done ? `I was allowed to write ${file.name}.` : `I could not write ${file.name}.`)
}

/** A call that says it reads, under a title that fills a row. It runs nothing, whatever the answer is. */
export async function disguise(turn: Turn, argument: string): Promise<void> {
  const title = 'List the files of this project, their sizes and their dates, and write a summary'.padEnd(85, '.')
  const start: ToolStart = { title, kind: 'read', input: { command: argument, description: 'Lists files' } }
  const toolCallId = announceTool(turn, start)
  const { allowed } = await askFor(turn, start, toolCallId)
  turn.update({ sessionUpdate: 'tool_call_update', toolCallId, status: allowed ? 'completed' : 'failed' })
  turn.say(allowed ? 'I was allowed to run it.' : 'I was not allowed to run it.')
}

interface Permission {
  readonly allowed: boolean
  /** Why, where no person decided. */
  readonly reason?: string
}

async function askFor(turn: Turn, start: ToolStart, toolCallId: string): Promise<Permission> {
  const toolCall = pendingCall(start, toolCallId)
  const params: RequestPermissionRequest = { sessionId: turn.session.id, toolCall, options: OPTIONS }
  const { client } = turn.around
  const { outcome, _meta } = await client.request('session/request_permission', params, untilCancelled(turn))
  const reason = reasonIn(_meta)
  if (outcome.outcome !== 'selected') return { allowed: false, ...reason }
  if (outcome.optionId === 'always') turn.session.alwaysAllowed.add('write')
  return { allowed: outcome.optionId === 'allow' || outcome.optionId === 'always', ...reason }
}

/** What agentproto says of an answer that no person gave. */
function reasonIn(meta: Readonly<Record<string, unknown>> | null | undefined): Pick<Permission, 'reason'> {
  const ours = meta?.['agentproto']
  const reason = typeof ours === 'object' && ours !== null && 'reason' in ours ? ours.reason : undefined
  return typeof reason === 'string' ? { reason } : {}
}

export async function question(turn: Turn, argument: string): Promise<void> {
  if (!turn.around.clientCapabilities.elicitation?.form) return turn.say('The client takes no questions.')
  const params: CreateElicitationRequest = {
    mode: 'form',
    sessionId: turn.session.id,
    message: argument || 'Which colour do you like?',
    requestedSchema: {
      type: 'object',
      properties: {
        colour: { type: 'string', title: 'Colour', enum: ['red', 'green', 'blue'] },
        why: { type: 'string', title: 'Why' },
      },
      required: ['colour'],
    },
  }
  const answer = await turn.around.client.request('elicitation/create', params, untilCancelled(turn))
  const content = 'content' in answer ? ` ${JSON.stringify(answer.content)}` : ''
  turn.say(`The answer was ${answer.action}${content}.`)
}

/** The client must answer what is pending when it cancels a turn, but not every client does. */
const untilCancelled = ({ signal }: Turn): SendRequestOptions => ({
  cancellationSignal: signal,
  stopWaitingOnCancel: true,
})
