import { ruleText } from '@agentproto/contracts'
import type { PlacedRule } from '@agentproto/contracts/wire'

type Covered = Pick<PlacedRule, 'decision' | 'match'>

/** All that a rule covers, after "Allow" or "Deny". What it is shown with makes the texts of an agent safe. */
export function coverText({ decision, match }: Covered): string {
  // A part of a call is enough to deny it; to allow a call, a rule must match all of it.
  if (decision === 'deny' || match.call !== undefined) return ruleText(match, (text) => text)
  const { toolKind, command, path } = match
  const calls = ruleText(toolKind === undefined ? {} : { toolKind }, (text) => text)
  const conditions = [
    command === undefined ? undefined : `each of its commands is ${command}`,
    path === undefined ? undefined : `each of its paths is ${path}`,
  ].filter((condition) => condition !== undefined)
  if (conditions.length > 0) return `${calls}, if ${conditions.join(' and ')}`
  return toolKind === 'execute'
    ? `${calls}, if they can be read as plain words`
    : `${calls}, if each of its paths is in the folders of the session`
}

export const decisionText = (decision: PlacedRule['decision']): string => (decision === 'allow' ? 'Allow' : 'Deny')

/** Where a rule holds, and for how long. @param title of its session, if that is known */
export function reachText(
  { lifetime, sessionId, workspaceSlug }: Pick<PlacedRule, 'lifetime' | 'sessionId' | 'workspaceSlug'>,
  title?: string,
): string {
  if (sessionId === undefined) return ofWorkspace(workspaceSlug ?? '')
  const session = title === undefined ? sessionId : `${title} (${sessionId})`
  return lifetime === 'once'
    ? `for the next such request of the session ${session}`
    : `in the session ${session}, also when it is resumed`
}

export const ofWorkspace = (slug: string): string =>
  `in every session of the workspace ${slug}, until the rule is removed`
