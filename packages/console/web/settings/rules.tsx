import type { AllRules } from '@agentproto/contracts/wire'
import { useState } from 'preact/hooks'
import type { Gateway } from '../gateway/gateway.js'
import { Unanswered } from '../hosts/unanswered.js'
import { Problem } from '../parts/problem.js'
import { useAction } from '../parts/use-action.js'
import { useAnswer } from '../parts/use-answer.js'
import { RuleForm } from './rule-form.js'
import { RuleRow } from './rule-row.js'

/** All rules that answer permission requests without a person: what each covers, where it holds, and who made it. */
export function Rules({ gateway }: { readonly gateway: Gateway }) {
  const { permissions, workspaces } = gateway.client
  const [round, setRound] = useState(0)
  const known = useAnswer(() => permissions.all(), String(round))
  const slugs = useAnswer(async () => (await workspaces.list()).workspaces.map(({ slug }) => slug), '')
  const action = useAction()
  const change = async (work: () => Promise<unknown>): Promise<void> => {
    await action.run(work)
    setRound((before) => before + 1)
  }
  return (
    <section aria-labelledby="rules">
      <h2 id="rules">Permission rules</h2>
      <p class="dim">
        A rule answers a permission request before the permission mode does, and before you are asked. One that denies
        wins.
      </p>
      <Problem text={known.problem || action.problem} />
      {known.value === undefined ? null : <LeftOut rules={known.value} />}
      <ul class="rows" aria-labelledby="rules">
        {known.value?.rules.map((rule) => (
          <li key={`${rule.sessionId ?? ''} ${rule.ruleId}`} class="setting">
            <RuleRow
              rule={rule}
              session={gateway.sessions.value.get(rule.sessionId ?? '')}
              isBusy={action.isBusy}
              onRemove={(scope) => void change(() => permissions.remove(scope, rule.ruleId))}
            />
          </li>
        ))}
      </ul>
      {slugs.value === undefined || slugs.value.length === 0 ? null : (
        <RuleForm
          workspaces={slugs.value}
          isBusy={action.isBusy}
          onAdd={(workspaceSlug, request) => void change(() => permissions.add({ workspaceSlug }, request))}
        />
      )}
    </section>
  )
}

/** What the list does not have. */
function LeftOut({ rules: { rules, omitted = 0, unread = [], unanswered } }: { readonly rules: AllRules }) {
  const isEmpty = rules.length === 0 && unread.length === 0 && unanswered === undefined
  return (
    <>
      {isEmpty ? <p>There are no rules: every request is decided by its permission mode, or by a person.</p> : null}
      <Unanswered hosts={unanswered} />
      {unread.map(({ workspaceSlug, problem }) => (
        <Problem key={workspaceSlug} text={`The rules of the workspace ${workspaceSlug} cannot be read: ${problem}`} />
      ))}
      {omitted === 0 ? null : <p class="note warning">{omitted} rules of older sessions are not shown.</p>}
    </>
  )
}
