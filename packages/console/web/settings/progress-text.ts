import type { Client } from '@agentproto/client'

type Progress = ReturnType<Client['adapters']['provision']> extends AsyncIterable<infer Each> ? Each : never

/** One line about a step of an installation. */
export function progressText(event: Progress): string {
  switch (event.type) {
    case 'phase':
      return line(event.phase, event.state, event.detail)
    case 'method':
      return line(event.method, event.state, event.detail)
    case 'step':
      return line(event.step, event.state, event.detail)
    case 'output':
      return event.line
    case 'progress':
      return `${event.bytes}${event.total === undefined ? '' : ` of ${event.total}`} bytes`
    case 'download':
      return line('SHA-256', event.sha256, event.verified ? 'matches' : 'not verified')
    case 'warning':
      return `warning: ${event.message}`
    case 'state':
      return line('ready', event.state.ready ? 'yes' : 'no', event.state.next && `next: ${event.state.next}`)
  }
}

const line = (...words: readonly (string | undefined)[]): string => words.filter(Boolean).join(' · ')
