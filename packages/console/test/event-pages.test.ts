import type { EventsPage } from '@agentproto/client'
import { expect, test } from 'vitest'
import { eventsBefore } from '../web/gateway/event-pages.js'
import { eventsOf } from './session-events.js'

const LOG = eventsOf(...Array.from({ length: 100 }, () => ({ type: 'usage', used: 1 }) as const))

/** A gateway whose pages are full after so many events. */
const pages =
  (most: number, available: readonly (typeof LOG)[number][] = LOG) =>
  async (after: number, limit: number): Promise<EventsPage> => {
    const events = available.filter(({ seq }) => seq > after).slice(0, Math.min(limit, most))
    return { events: [...events], nextAfter: events.at(-1)?.seq ?? after }
  }

const numbersOf = async (read: Parameters<typeof eventsBefore>[0], count: number) => {
  const { events, after } = await eventsBefore(read, 90, count)
  return { after, first: events.at(0)?.seq, last: events.at(-1)?.seq }
}

test('15.4 the last events before one are read in one page', async () => {
  expect(await numbersOf(pages(1_000), 20)).toEqual({ after: 70, first: 71, last: 90 })
  expect(await numbersOf(pages(1_000), 2_000)).toEqual({ after: 0, first: 1, last: 90 })
})

test('15.4 a page that ends early is followed by the next one', async () => {
  expect(await numbersOf(pages(7), 80)).toEqual({ after: 10, first: 11, last: 90 })
})

test('15.4 of events that are too large for some pages only the last ones are read', async () => {
  expect(await numbersOf(pages(1), 80)).toEqual({ after: 82, first: 83, last: 90 })
})

test('15.4 events that are not there end the search', async () => {
  expect(await numbersOf(pages(1_000, []), 80)).toEqual({ after: 10, first: undefined, last: undefined })
  expect(await numbersOf(pages(1_000, LOG.slice(0, 60)), 80)).toMatchObject({ after: expect.toSatisfy((n) => n >= 10) })
})
