import type { PlacedRule } from '@agentproto/contracts/wire'

export const decisionText = (decision: PlacedRule['decision']): string => (decision === 'allow' ? 'Allow' : 'Deny')

/** What is shown by `Outside` is made safe there. */
export const asIs = (text: string): string => text

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
