import type { SessionEvent } from '@agentproto/client'

/** Events of which the first ones wait for what is before them. */
export interface Seam {
  /** To be shown together with the events before them. */
  readonly held: readonly SessionEvent[]
  readonly shown: readonly SessionEvent[]
}

/**
 * Where a transcript can begin in the middle of a session: at a prompt, or else after a paragraph or a line of a text that began
 * before. At most half of the events wait.
 */
export function seamOf(events: readonly SessionEvent[]): Seam {
  const half = events.slice(0, Math.ceil(events.length / 2))
  const prompt = half.findIndex(({ type }) => type === 'user-prompt')
  if (prompt >= 0) return { held: events.slice(0, prompt), shown: events.slice(prompt) }
  const text = beginningText(half)
  return textSeam(events, endIn(text, '\n\n') ?? endIn(text, '\n') ?? 0)
}

type Growth = Extract<SessionEvent, { readonly type: 'text-delta' | 'thought' }>

const isGrowth = (event: SessionEvent): event is Growth => event.type === 'text-delta' || event.type === 'thought'

/** The text that goes on at the begin of events. */
function beginningText(events: readonly SessionEvent[]): string {
  const [first] = events
  const end = events.findIndex(({ type }) => type !== first?.type)
  const growths = (end < 0 ? events : events.slice(0, end)).filter(isGrowth)
  return growths.map(({ text }) => text).join('')
}

function endIn(text: string, mark: string): number | undefined {
  const at = text.indexOf(mark)
  return at < 0 ? undefined : at + mark.length
}

/** Divides the events after so many characters of their text, in the middle of an event if it must be. */
function textSeam(events: readonly SessionEvent[], chars: number): Seam {
  let rest = chars
  for (const [index, event] of events.entries()) {
    if (rest === 0 || !isGrowth(event)) return { held: events.slice(0, index), shown: events.slice(index) }
    if (event.text.length <= rest) {
      rest -= event.text.length
      continue
    }
    const held = { ...event, text: event.text.slice(0, rest) }
    const shown = { ...event, text: event.text.slice(rest) }
    return { held: [...events.slice(0, index), held], shown: [shown, ...events.slice(index + 1)] }
  }
  return { held: events, shown: [] }
}
