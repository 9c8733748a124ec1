import {
  AgentprotoError,
  defined,
  isRecord,
  parseJson,
  RULE_LIFETIMES,
  type RuleLifetime,
  type SessionRequest,
} from '@agentproto/contracts'
import type { AnswerRequest } from '@agentproto/contracts/wire'
import { Option } from 'commander'
import type { CommandResult, Define } from '../../cli-command.js'
import type { CliContext } from '../../cli-context.js'
import { requestTitle } from '../../render/request-title.js'
import { allowOnce, denyOnce } from '../../requests/one-time-answer.js'
import { openSession } from '../../session-ref.js'

interface AnswerOptions {
  readonly option?: string
  readonly allow?: boolean
  readonly deny?: boolean
  readonly content?: string
  readonly remember?: RuleLifetime
  readonly reason?: string
}

export const define: Define = (command) =>
  command
    .description('answer a request of an agent')
    .argument('<id>')
    .argument('[requestId]', 'needed when several requests are pending')
    .addOption(new Option('--option <optionId>', 'choose this option of a permission request').conflicts(OTHERS))
    .addOption(new Option('--allow', 'allow once, or accept a question').conflicts(['deny', 'content']))
    .addOption(new Option('--deny', 'deny once, or decline a question').conflicts('content'))
    .option('--content <json>', 'accept a question with this JSON object')
    .addOption(
      new Option('--remember <lifetime>', 'create a rule from the answer, for the same request')
        .choices([...RULE_LIFETIMES])
        .conflicts('content'),
    )
    .addOption(new Option('--reason <text>', 'say why, to agents that take it').conflicts('content'))
    .json('print the answered request as JSON')
    .examples(
      'sessions answer try --allow',
      'sessions answer try --allow --remember session',
      'sessions answer try --option reject-once',
      'sessions answer try --deny --reason "use pnpm"',
      'sessions answer try --content \'{"colour": "red"}\'',
    )
    .run(answer)

/** The other ways to answer. */
const OTHERS = ['allow', 'deny', 'content']

async function answer(
  context: CliContext,
  ...[ref, requestId, options]: [string, string | undefined, AnswerOptions]
): Promise<CommandResult> {
  const { client, session } = await openSession(context, ref)
  const requests = await client.sessions.requests(session.id)
  const request = pick(answerable(requests, options.remember !== undefined, requestId !== undefined), requestId)
  const given = withReason(withLifetime(answerOf(request, options), options), options)
  const answered = await client.sessions.answer(session.id, request.requestId, given)
  const result = request.state === 'pending' ? 'Answered' : 'Decided for the next time'
  return { json: answered, note: `${result}: ${requestTitle(request.request)}` }
}

/** Pending requests, and with `--remember` interrupted ones: the rule answers them the next time. */
function answerable(
  requests: readonly SessionRequest[],
  remember: boolean,
  isNamed: boolean,
): readonly SessionRequest[] {
  const pending = requests.filter(({ state }) => state === 'pending')
  if (!remember || (pending.length > 0 && !isNamed)) return pending
  return requests.filter(({ state }) => state !== 'resolved')
}

function withLifetime(given: AnswerRequest, { remember }: AnswerOptions): AnswerRequest {
  if (remember === undefined) return given
  if ('optionId' in given) return { ...given, remember }
  throw new AgentprotoError('invalid_request', 'Only the answer to a permission request can be remembered', {
    expected: 'no --remember',
    given: remember,
  })
}

function withReason(given: AnswerRequest, { reason }: AnswerOptions): AnswerRequest {
  if (reason === undefined) return given
  if ('optionId' in given || given.action !== 'accept') return { ...given, reason }
  throw new AgentprotoError('invalid_request', 'An accepted question has no reason', { expected: 'no --reason' })
}

function pick(requests: readonly SessionRequest[], id: string | undefined): SessionRequest {
  const matching = requests.filter(({ requestId }) => requestId.startsWith(id ?? ''))
  const [only, second] = matching
  if (only !== undefined && second === undefined) return only
  if (only === undefined)
    throw new AgentprotoError(
      'request_not_found',
      id === undefined ? 'No request is pending' : 'No pending request has this id',
      { ...defined({ given: id }), hint: 'List the requests of a session with: agentproto sessions show <id>' },
    )
  const choices = matching.map(({ requestId, request }) => `${requestId} (${requestTitle(request)})`)
  throw new AgentprotoError('invalid_request', `${matching.length} requests are pending`, {
    hint: `Name one: ${choices.join(', ')}`,
  })
}

function answerOf({ request }: SessionRequest, { option, allow, deny, content }: AnswerOptions): AnswerRequest {
  if (option !== undefined) return { optionId: option }
  if (content !== undefined) return { action: 'accept', content: objectIn(content) }
  if (allow === true) return allowOnce(request)
  if (deny === true) return denyOnce(request)
  const options =
    request.kind === 'permission' ? request.options.map(({ optionId, name }) => `${optionId} (${name})`) : []
  throw new AgentprotoError('invalid_request', `The agent asks: ${requestTitle(request)}`, {
    expected: 'an answer: --allow, --deny, --option <optionId> or --content <json>',
    ...(options.length === 0 ? {} : { hint: `Options: ${options.join(', ')}` }),
  })
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  const value = parseJson(text)
  if (isRecord(value)) return value
  throw new AgentprotoError('invalid_request', 'The answer is not a JSON object', {
    expected: `--content '{"name": "value"}'`,
    given: text,
  })
}
