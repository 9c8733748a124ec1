import type { Session } from '@agentproto/client'
import type { RuleScope } from '@agentproto/contracts'
import type { PlacedRule } from '@agentproto/contracts/wire'
import { ConfirmButton } from '../parts/confirm-button.js'
import { Outside } from '../parts/outside.js'
import { addressOf } from '../place.js'
import { coverText, decisionText, reachText } from './rule-words.js'

interface RuleRowProps {
  readonly rule: PlacedRule
  /** The session whose rule it is, if it is known here. */
  readonly session: Session | undefined
  readonly isBusy: boolean
  readonly onRemove: (scope: RuleScope) => void
}

/** One rule in whole sentences, with the session or workspace in which it holds. */
export function RuleRow({ rule, session, isBusy, onRemove }: RuleRowProps) {
  const { ruleId, decision, createdBy, createdAt, from } = rule
  const scope = scopeOf(rule)
  return (
    <>
      <p>
        <strong class={decision}>{decisionText(decision)}</strong> <Outside text={coverText(rule)} />
      </p>
      <p class="dim">
        <Outside text={reachText(rule, session?.title ?? session?.label)} />;{' '}
        <Outside text={`made by ${createdBy}, ${new Date(createdAt).toLocaleString()}`} />
        {from === undefined ? null : (
          <>
            , from <a href={addressOf({ name: 'session', id: from.sessionId })}>an answer</a>
          </>
        )}
      </p>
      {scope === undefined ? null : (
        <ConfirmButton
          label={`Remove the rule ${ruleId}`}
          question="Remove this rule? What it answered will be asked again, or decided by the permission mode."
          isBusy={isBusy}
          onConfirm={() => onRemove(scope)}
        />
      )}
    </>
  )
}

function scopeOf({ sessionId, workspaceSlug }: PlacedRule): RuleScope | undefined {
  if (sessionId !== undefined) return { sessionId }
  return workspaceSlug === undefined ? undefined : { workspaceSlug }
}
