import type { SessionRequest } from '@agentproto/client'

/** Who or what answered a request. */
export function answeredText({ answeredBy }: Pick<SessionRequest, 'answeredBy'>): string {
  switch (answeredBy?.type) {
    case 'principal':
      return `Answered by ${answeredBy.name}.`
    case 'policy':
      return `Answered by the rule or mode ${answeredBy.rule}.`
    case 'timeout':
      return 'No answer came in time.'
    case 'turn-end':
      return 'Not needed any more: its turn ended.'
    case 'session-end':
      return 'Not needed any more: its session ended.'
    case 'gateway-end':
      return 'Not needed any more: the gateway was restarted.'
    case undefined:
      return 'Answered.'
  }
}
