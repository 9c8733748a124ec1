import type { Session } from '@agentproto/client'
import { formFields, permissionChoices, questionChoices } from '@agentproto/contracts'
import { HostLink } from '../hosts/host-link.js'
import { isAway } from '../hosts/is-away.js'
import { Outside } from '../parts/outside.js'
import { addressOf } from '../place.js'
import { Answers } from './answers.js'
import type { RequestCardProps } from './answering.js'
import { PermissionContent } from './permission-content.js'
import { QuestionContent } from './question-content.js'
import { QuestionFormView } from './question-form-view.js'
import { answeredText } from './answered-text.js'
import { isFillable } from './question-form.js'

/** One question of an agent with all that is decided, and below it the answers. */
export function RequestCard({ gateway, request: asked, guard }: RequestCardProps) {
  const { request, requestId, cut } = asked
  const isPending = asked.state === 'pending'
  return (
    <article
      class="card request"
      tabIndex={-1}
      aria-labelledby={`title-${requestId}`}
      onKeyDown={(event) => {
        // A key that is held down for something else must not press what it meets here.
        if (event.repeat && (event.key === 'Enter' || event.key === ' ')) event.preventDefault()
      }}
    >
      <Heading gateway={gateway} request={asked} />
      {cut === undefined ? null : (
        <p class="problem">
          Not shown whole: the request has {cut.originalChars} characters, and long texts in it were cut. Deny it, or
          look at the files yourself.
        </p>
      )}
      {request.kind === 'permission' ? (
        <PermissionContent request={request} facts={asked.facts} />
      ) : (
        <QuestionContent request={request} />
      )}
      {isPending ? (
        <Answerable gateway={gateway} request={asked} guard={guard} />
      ) : (
        <p class="answered" role="status">
          <Outside text={answeredText(asked)} />
        </p>
      )}
    </article>
  )
}

function Heading({ gateway, request: { request, sessionId, requestId } }: Omit<RequestCardProps, 'guard'>) {
  const session = gateway.sessions.value.get(sessionId)
  return (
    <header>
      <h2 id={`title-${requestId}`}>
        {request.kind === 'permission' ? 'The agent asks for a permission' : 'The agent asks a question'}
      </h2>
      <a href={addressOf({ name: 'session', id: sessionId })}>
        <Outside text={session?.label ?? session?.title ?? sessionId} />
      </a>
      {session === undefined ? null : (
        <span class="dim">
          <Outside text={whereOf(gateway, session)} />
        </span>
      )}
    </header>
  )
}

const whereOf = ({ hosts }: RequestCardProps['gateway'], session: Session): string =>
  [session.adapterSlug, session.workspaceSlug, ...(hosts.isFleet.value ? [session.hostId] : []), session.cwd].join(
    ' · ',
  )

/** The answers; off while the host of the session is away, with what was filled in. */
function Answerable(props: RequestCardProps) {
  const session = props.gateway.sessions.value.get(props.request.sessionId)
  const isOff = isAway(session)
  return (
    <>
      <fieldset class="together" disabled={isOff}>
        <AnswersOf {...props} />
      </fieldset>
      <p class="note warning off-note" role="status">
        {isOff && session !== undefined ? (
          <>
            Its host <HostLink name={session.hostId} /> is not heard from. It can be answered when the host is back.
          </>
        ) : null}
      </p>
    </>
  )
}

function AnswersOf({ gateway, request: asked, guard }: RequestCardProps) {
  const { request, facts, sessionId } = asked
  if (!gateway.may('operate')) return <p class="dim">Your login may only read: somebody else has to answer.</p>
  if (request.kind === 'permission') {
    const workspace = gateway.sessions.value.get(sessionId)?.workspaceSlug ?? ''
    const mayRuleWorkspace = gateway.may('admin')
    const choices = permissionChoices(request, { facts, workspace, mayRuleWorkspace, quote: asIs })
    return <Answers gateway={gateway} request={asked} guard={guard} choices={choices} />
  }
  const fields = request.mode === 'form' ? formFields(request.schema) : []
  if (isFillable(fields)) return <QuestionFormView gateway={gateway} request={asked} guard={guard} fields={fields} />
  const choices = questionChoices(request.mode)
  if (fields.length === 0) return <Answers gateway={gateway} request={asked} guard={guard} choices={choices} />
  return (
    <>
      <p class="problem">The form is too large to be filled in here.</p>
      <Answers
        gateway={gateway}
        request={asked}
        guard={guard}
        choices={choices.filter(({ isPositive }) => !isPositive)}
      />
    </>
  )
}

/** What is shown is made safe where it is shown. */
const asIs = (text: string): string => text
