import {
  PERMISSION_OPTION_TEXT,
  type Session,
  SESSION_STATE_TEXT,
  type SessionRequest,
  STOP_REASON_TEXT,
  type Turn,
} from '@agentproto/contracts'
import { ageSince, duration } from './age.js'
import { changeCounts } from './change-counts.js'
import { exactLine, wrapExact } from './exact.js'
import type { Frame } from './paint.js'
import { oneLine } from './printable.js'
import { type AskedRequest, requestContent } from './request-content.js'
import { requestTitle } from './request-title.js'
import { sessionState } from './session-text.js'
import { budgetText, usageText } from './usage-text.js'

export interface SessionDetails {
  readonly session: Session
  readonly pending: readonly SessionRequest[]
  readonly turns: readonly Turn[]
}

/** The number of last turns that are shown. */
export const SHOWN_TURNS = 5

/** The page of `agentproto sessions show`, as lines. */
export function renderSession(
  details: SessionDetails,
  { now, paint, width }: Frame & { readonly now: number },
): string[] {
  const facts = factsOf(details.session, now)
  const longest = Math.max(...facts.map(([name]) => name.length))
  const lines = facts.map(([name, value]) => `${paint.dim(name.padEnd(longest))}  ${value}`)
  const turns = details.turns.slice(-SHOWN_TURNS).map((turn) => `  ${turnLine(turn)}`)
  return [
    ...lines,
    ...(turns.length === 0 ? [] : ['', paint.bold('Last turns'), ...turns]),
    ...details.pending.flatMap((request) => pendingLines({ ...request, session: details.session }, { paint, width })),
  ]
}

function factsOf(session: Session, now: number): [string, string][] {
  const { agent, failure, config } = session
  const facts: [string, string | undefined][] = [
    ['id', session.id],
    ['label', session.label],
    ['title', session.title],
    ['adapter', session.adapterSlug],
    ['agent', agent && [agent.name, agent.version].filter(Boolean).join(' ')],
    ['workspace', session.workspaceSlug],
    ['folder', session.cwd],
    ['worktree', worktreeOf(session)],
    ['state', `${sessionState(session)} (${SESSION_STATE_TEXT[sessionState(session)]})`],
    ['status', session.status],
    ['stopped because', session.stopReason && `${STOP_REASON_TEXT[session.stopReason]} (${session.stopReason})`],
    ['failure', failure && `${failure.kind}: ${failure.summary}`],
    ['crash bundle', failure?.crashBundlePath],
    ['exit code', session.exitCode?.toString() ?? session.signal],
    ['mode', config?.modeId],
    ['model', config?.modelId],
    ['permissions', session.permissionMode],
    ['changes', changesOf(session, now)],
    ['sandbox', confinementOf(session)],
    ['started', `${ageSince(session.startedAt, now)} ago (${session.startedAt})`],
    ['last output', session.lastOutputAt && `${ageSince(session.lastOutputAt, now)} ago`],
    ...usageFacts(session),
    ['health', session.health],
    ['attachable', yesOrNo(session.attachable)],
    ['wakeable', yesOrNo(session.wakeable)],
    ['resumable', yesOrNo(session.resumable)],
    ['warnings', session.warnings.join('; ') || undefined],
  ]
  return facts.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, oneLine(value)]]))
}

function changesOf({ changes, reviewed }: Session, now: number): string | undefined {
  if (changes === undefined) return undefined
  const review = reviewed === undefined ? '' : `, reviewed ${ageSince(reviewed.at, now)} ago`
  return `${changes.files} file${changes.files === 1 ? '' : 's'} ${changeCounts(changes)}${review}`
}

const yesOrNo = (value: boolean): string => (value ? 'yes' : 'no')

const usageFacts = ({ usage, budget }: Session): [string, string | undefined][] => [
  ['used', usage && usageText(usage)],
  ['budget', budget && budgetText(budget)],
]

const worktreeOf = ({ worktree }: Session): string | undefined =>
  worktree && `branch ${worktree.branch} from ${worktree.base} of ${worktree.repository}`

const confinementOf = ({ sandbox }: Session): string | undefined =>
  sandbox && (sandbox.enforced ? sandbox.provider : `not confined: ${sandbox.reason ?? 'no reason given'}`)

function turnLine({ number, state, reason, startedAt, endedAt, error }: Turn): string {
  const took = endedAt === undefined ? '' : `, ${duration(Date.parse(endedAt) - Date.parse(startedAt))}`
  return `${number}  ${state === 'running' ? 'running' : (reason ?? 'ended')}${took}${error === undefined ? '' : `: ${oneLine(error)}`}`
}

/** All that is decided, and the command that decides. */
function pendingLines(asked: AskedRequest, frame: Frame): string[] {
  const { requestId, request, session } = asked
  const options =
    request.kind === 'permission'
      ? request.options.map(
          ({ optionId, name, kind }) =>
            `  --option ${exactLine(optionId)}  ${PERMISSION_OPTION_TEXT[kind]}: ${exactLine(name)}`,
        )
      : []
  const answer = request.kind === 'permission' ? '--allow' : request.mode === 'url' ? '--allow' : "--content '{…}'"
  return [
    '',
    frame.paint.yellow(`Waits for an answer: ${requestTitle(request)}`),
    ...requestContent(asked, frame),
    '',
    ...options.flatMap((row) => wrapExact(row, frame.width)),
    `  agentproto sessions answer ${session.id} ${requestId} ${answer}`,
  ]
}
