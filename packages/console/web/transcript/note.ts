import type { EventOf, Note } from './part.js'

export type NoteEvent = EventOf<
  'error' | 'notice' | 'runtime-warning' | 'repair' | 'checkpoint-skipped' | 'rewound' | 'session-stopped'
>

export function noteOf(event: NoteEvent): Note {
  switch (event.type) {
    case 'error':
      return { tone: 'error', text: event.message, detail: event.stderrTail }
    case 'notice':
      return { tone: event.severity, text: event.text }
    case 'runtime-warning':
      return { tone: 'warning', text: event.message }
    case 'repair':
      return { tone: 'warning', text: event.detail }
    case 'checkpoint-skipped':
      return { tone: 'warning', text: `Files were not recorded: ${event.reason}`, detail: event.detail }
    case 'rewound':
      return { tone: 'info', text: `${event.files} files were set back` }
    case 'session-stopped':
      return {
        tone: event.failure ? 'error' : 'info',
        text: `Ended: ${event.stopReason}`,
        detail: event.failure?.summary,
      }
  }
}
