import type { Client } from '@agentproto/client'
import { defined } from '@agentproto/contracts'
import type { CommandResult } from '../cli-command.js'
import { print, type CliContext } from '../cli-context.js'
import { createPaint } from '../render/paint.js'
import { requestContent, requestHeading } from '../render/request-content.js'
import { type SilentHost, silentNote } from '../render/silent-hosts.js'
import { interruptible } from '../signals.js'
import { answererText } from './inbox-screen.js'
import { askedOf, type WaitingChange, WaitingFeed, type WaitingRequest, waitingRequests } from './waiting-feed.js'

const WIDTH = 120
const NONE = 'No request waits for you.'

/** Every request that waits, whole, with the commands that answer it. */
export async function listRequests(client: Client): Promise<CommandResult> {
  const { waiting, unanswered } = await waitingRequests(client)
  const text = waiting.length === 0 ? NONE : waiting.flatMap(rowsOf)
  const requests = waiting.map(({ request }) => request)
  return { json: { requests, ...(unanswered.length > 0 && { unanswered }) }, text, note: silentNote(unanswered) }
}

/** Prints each request when it is asked, and how it was answered, until Ctrl-C. */
export function followRequests(context: CliContext, client: Client, json: boolean): Promise<number | void> {
  return interruptible(async (signal) => {
    const feed = new WaitingFeed(client)
    const show = (change: WaitingChange): void => print(context.stdout, json ? jsonOf(change) : textOf(change))
    const { changes, unanswered } = await feed.open()
    for (const change of changes) show(change)
    showSilent(context, unanswered, json)
    for await (const each of client.watch({ signal })) for (const change of await feed.apply(each)) show(change)
  })
}

/** They are named once; what waits there is shown when they are back. */
function showSilent(context: CliContext, unanswered: readonly SilentHost[], json: boolean): void {
  const note = silentNote(unanswered)
  if (json) for (const host of unanswered) print(context.stdout, JSON.stringify({ type: 'unanswered', ...host }))
  else if (note !== undefined) print(context.stderr, note)
}

function jsonOf(change: WaitingChange): string {
  if (change.type === 'asked') return JSON.stringify({ type: 'asked', request: change.request })
  const { requestId, session } = change.asked
  return JSON.stringify({ type: 'gone', sessionId: session.id, requestId, ...defined({ by: change.answeredBy }) })
}

function textOf(change: WaitingChange): readonly string[] {
  if (change.type === 'asked') return rowsOf({ request: change.request, session: change.session })
  return [`${change.asked.requestId}: ${answererText(change.answeredBy)}`, '']
}

function rowsOf({ request, session }: WaitingRequest): readonly string[] {
  const frame = { paint: createPaint(false), width: WIDTH }
  const { sessionId, requestId, createdAt } = request
  const answer = `agentproto sessions answer ${sessionId} ${requestId}`
  const isInterrupted = request.state === 'interrupted'
  return [
    `? ${requestHeading(request.request)} · ${requestId} · ${createdAt}${isInterrupted ? ' · its gateway ended' : ''}`,
    ...requestContent(askedOf({ request, session }), frame),
    ...(isInterrupted ? interruptedRows(request, answer) : answerRows(request, answer)),
    '',
  ]
}

function answerRows({ request }: WaitingRequest['request'], answer: string): readonly string[] {
  const takesContent = request.kind === 'question' && request.mode === 'form'
  return [`  Answer: ${answer} ${takesContent ? "--content '{…}'" : '--allow'}`, `      or: ${answer} --deny`]
}

/** Its agent is gone: what can be decided is the next time. */
function interruptedRows({ request, sessionId }: WaitingRequest['request'], answer: string): readonly string[] {
  const resume = `agentproto sessions resume ${sessionId}`
  if (request.kind === 'question') return [`  Its agent may ask again after: ${resume}`]
  return [`  For the next time: ${answer} --allow --remember once`, `            or: ${answer} --deny --remember once`]
}
