import type { Client, SessionRequest } from '@agentproto/client'
import { expect } from 'vitest'

/** Waits until the session's agent asks for a permission. */
export async function pendingPermission(client: Pick<Client, 'sessions'>, sessionId: string): Promise<SessionRequest> {
  let pending: SessionRequest | undefined
  await expect
    .poll(
      async () => {
        pending = (await client.sessions.requests(sessionId)).find(({ state }) => state === 'pending')
        return pending?.request.kind
      },
      { timeout: 20_000 },
    )
    .toBe('permission')
  if (!pending) throw new Error('no request is pending')
  return pending
}

/** The id of the option that allows once. */
export function allowOnce({ request }: SessionRequest): string {
  const options = request.kind === 'permission' ? request.options : []
  const option = options.find(({ kind }) => kind === 'allow_once')
  if (!option) throw new Error(`no option allows once: ${JSON.stringify(request)}`)
  return option.optionId
}
