import type { RequestPage } from '@agentproto/contracts/wire'
import { oneLine } from './printable.js'

/** A host of the fleet that did not answer, and why: what it has is missing. */
export type SilentHost = NonNullable<RequestPage['unanswered']>[number]

/** The line for a person that names them; undefined for none. */
export function silentNote(hosts: readonly SilentHost[] = []): string | undefined {
  if (hosts.length === 0) return undefined
  const names = hosts.map(({ host }) => oneLine(host))
  return `! Not answered, so that what is there is missing: ${names.join(', ')}. See: agentproto hosts`
}
