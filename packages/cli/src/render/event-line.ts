import { promptText, type SessionEvent } from '@agentproto/contracts'
import { changeCounts } from './change-counts.js'
import { cut } from './fit.js'
import type { Frame } from './paint.js'
import { oneLine } from './printable.js'
import { requestTitle, toolTitle } from './request-title.js'

/** One event of the log on one line: sequence number, time of day, type and summary. */
export function eventLine(event: SessionEvent, { paint, width }: Frame): string {
  const head = `${String(event.seq).padStart(5)}  ${event.ts.slice(11, 23)}  `
  const type = event.type.padEnd(21)
  const summary = cut(summaryOf(event), Math.max(10, width - head.length - type.length - 1))
  return `${paint.dim(head)}${paint.cyan(type)} ${summary}`.trimEnd()
}

function summaryOf(event: SessionEvent): string {
  switch (event.type) {
    case 'text-delta':
    case 'thought':
      return JSON.stringify(event.text)
    case 'user-prompt':
      return oneLine(promptText(event.content))
    case 'tool-call':
    case 'tool-result':
      return `${toolTitle(event)}${event.status === undefined ? '' : ` (${event.status})`}`
    case 'agent-prompt':
      return `${event.request.kind}: ${requestTitle(event.request)}`
    case 'agent-prompt-resolved':
      return `${event.answer.outcome}${event.answer.outcome === 'selected' ? ` ${event.answer.optionId}` : ''} by ${event.by.type}`
    case 'turn-end':
      return event.reason + (event.empty === true ? ', empty' : '')
    case 'error':
    case 'runtime-warning':
      return oneLine(event.message)
    case 'session-stopped':
      return `${event.status}, ${event.stopReason}`
    case 'checkpoint':
      return `${event.files} files ${changeCounts(event)}`
    case 'checkpoint-skipped':
      return oneLine(`${event.reason}${event.detail === undefined ? '' : `: ${event.detail}`}`)
    case 'rewound':
      return `${event.files} files, back to ${event.to}; undo with ${event.before}`
    case 'status':
    case 'plan':
    case 'usage':
    case 'config':
    case 'title':
    case 'output':
    case 'notice':
    case 'extension':
    case 'runtime-progress':
    case 'repair':
      return oneLine(payloadOf(event))
    default:
      return event satisfies never
  }
}

function payloadOf(event: SessionEvent): string {
  const { seq, ts, sessionId, turn, type, ...payload } = event
  return JSON.stringify(payload)
}
