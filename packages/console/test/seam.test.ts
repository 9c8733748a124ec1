import { expect, test } from 'vitest'
import { seamOf } from '../web/transcript/seam.js'
import { type Body, eventsOf } from './session-events.js'

const text = (words: string): Body => ({ type: 'text-delta', text: words })
const prompt: Body = { type: 'user-prompt', content: [{ type: 'text', text: 'do it' }] }
const usage: Body = { type: 'usage', used: 1 }

const textsOf = (...bodies: readonly Body[]) => {
  const { held, shown } = seamOf(eventsOf(...bodies))
  const words = (events: typeof held) => events.map((event) => ('text' in event ? event.text : event.type))
  return { held: words(held), shown: words(shown) }
}

test('15.4 a transcript begins at a prompt, if one is in the first half of what is loaded', () => {
  const { held, shown } = textsOf(text('of before\n\n'), prompt, text('a'), usage)
  expect({ held, shown }).toEqual({ held: ['of before\n\n'], shown: ['user-prompt', 'a', 'usage'] })
})

test('15.4 or after the paragraph that began before, which may end in the middle of an event', () => {
  const { held, shown } = textsOf(text('ends here.\n'), text('\nA new one'), text(' goes on'), usage)
  expect({ held, shown }).toEqual({ held: ['ends here.\n', '\n'], shown: ['A new one', ' goes on', 'usage'] })
})

test('15.4 or after a line, or where the text happens to be', () => {
  expect(textsOf(text('a line\nb'), text('c'), text('d')).shown).toEqual(['b', 'c', 'd'])
  expect(textsOf(text('a'), text('b'), text('c'), text('d'))).toEqual({ held: [], shown: ['a', 'b', 'c', 'd'] })
})

test('15.4 nothing is lost or shown twice at a seam, whatever the events are', () => {
  const bodies = [text('a\n'), usage, text('b\n\nc'), { type: 'thought', text: 'd\n\n' } as const, prompt, text('e')]
  for (let from = 0; from < bodies.length; from++) {
    const { held, shown } = textsOf(...bodies.slice(from))
    const all = textsOf(...bodies.slice(from).map((body) => body))
    expect([...held, ...shown].join('')).toBe([...all.held, ...all.shown].join(''))
    expect(shown.length).toBeGreaterThan(0)
  }
  expect(seamOf([])).toEqual({ held: [], shown: [] })
})
