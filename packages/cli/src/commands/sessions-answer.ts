import {
  AgentprotoError,
  EXIT,
  type AnswerRequest,
  type RuleLifetime,
  type SessionRequest,
} from '@agentproto/contracts'
import { connect } from '../daemon/daemon.js'
import { print, printJson, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { requestTitle } from '../render/request-title.js'
import { allowing, denying } from '../requests/verdict.js'
import { findSession } from '../session-ref.js'

export interface AnswerOptions extends JsonOption {
  readonly option?: string
  readonly allow?: boolean
  readonly deny?: boolean
  readonly content?: string
  readonly remember?: RuleLifetime
}

/** `agentproto sessions answer`: answers the one request that waits, or the one that is named. */
export async function answerSession(
  io: Io,
  { ref, requestId }: { readonly ref: string; readonly requestId: string | undefined },
  options: AnswerOptions,
): Promise<number> {
  const client = await connect(io)
  const { id } = await findSession(client, ref)
  const known = await client.sessions.requests(id)
  const request = pick(answerable(known, options.remember !== undefined, requestId !== undefined), requestId)
  const answer = remembered(answerOf(request, options), options)
  const title = requestTitle(request.request)
  const answered = await client.sessions.answer(id, request.requestId, answer)
  if (options.json === true) printJson(io, answered)
  else print(io.stderr, `${request.state === 'pending' ? 'Answered' : 'Decided for the next time'}: ${title}`)
  return EXIT.ok
}

/** What waits; and what was interrupted, which can be decided ahead of the next time that it is asked. */
function answerable(requests: readonly SessionRequest[], ahead: boolean, named: boolean): readonly SessionRequest[] {
  const pending = requests.filter(({ state }) => state === 'pending')
  if (!ahead || (pending.length > 0 && !named)) return pending
  return requests.filter(({ state }) => state !== 'resolved')
}

function remembered(answer: AnswerRequest, { remember }: AnswerOptions): AnswerRequest {
  if (remember === undefined) return answer
  if ('optionId' in answer) return { ...answer, remember }
  throw new AgentprotoError('invalid_request', 'Only the answer to a permission can be remembered', {
    expected: 'no --remember',
    given: remember,
  })
}

function pick(pending: readonly SessionRequest[], requestId: string | undefined): SessionRequest {
  const matching = requestId === undefined ? pending : pending.filter((each) => each.requestId.startsWith(requestId))
  const [only, second] = matching
  if (only === undefined) {
    throw new AgentprotoError(
      'request_not_found',
      requestId === undefined ? 'Nothing waits for an answer' : 'No such request waits',
      {
        ...(requestId === undefined ? {} : { given: requestId }),
        hint: 'See what a session waits for with: agentproto sessions show <id>',
      },
    )
  }
  if (second === undefined) return only
  throw new AgentprotoError('invalid_request', `${matching.length} requests wait`, {
    hint: `Name one: ${matching.map((each) => `${each.requestId} (${requestTitle(each.request)})`).join(', ')}`,
  })
}

function answerOf({ request }: SessionRequest, { option, allow, deny, content }: AnswerOptions): AnswerRequest {
  if (option !== undefined) return { optionId: option }
  if (content !== undefined) return { action: 'accept', content: objectOf(content) }
  if (allow === true) return allowing(request)
  if (deny === true) return denying(request)
  const options =
    request.kind === 'permission' ? request.options.map(({ optionId, name }) => `${optionId} (${name})`) : []
  throw new AgentprotoError('invalid_request', `It asks: ${requestTitle(request)}`, {
    expected: 'an answer: --allow, --deny, --option <optionId> or --content <json>',
    ...(options.length === 0 ? {} : { hint: `Options: ${options.join(', ')}` }),
  })
}

function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Told below, as for any other text that is no object.
  }
  throw new AgentprotoError('invalid_request', 'The answer is not a JSON object', {
    expected: `--content '{"name": "value"}'`,
    given: text,
  })
}
