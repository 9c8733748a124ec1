import type { AllRules } from '@agentproto/contracts/wire'
import { HostLink } from './host-link.js'

/** The hosts whose part of an answer is missing. */
export function Unanswered({ hosts = [] }: { readonly hosts: AllRules['unanswered'] }) {
  if (hosts.length === 0) return null
  return (
    <p class="note warning">
      {hosts.map(({ host }, index) => (
        <span key={host}>
          {index === 0 ? '' : ', '}
          <HostLink name={host} />
        </span>
      ))}{' '}
      {hosts.length === 1 ? 'does' : 'do'} not answer: what is there is missing here.
    </p>
  )
}
