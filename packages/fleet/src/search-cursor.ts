import { AgentprotoError, isRecord, parseJson } from '@agentproto/contracts'

/** Where the search goes on at each host: a cursor of that host, or null for its beginning. A host that is done is absent. */
export type SearchPlaces = Readonly<Record<string, string | null>>

const MAX_CHARS = 64 * 1024

export const toCursor = (places: SearchPlaces): string =>
  Buffer.from(JSON.stringify(places)).toString('base64url')

/** @throws `invalid_request` */
export function fromCursor(after: string): SearchPlaces {
  const given = after.length > MAX_CHARS ? undefined : parseJson(Buffer.from(after, 'base64url').toString('utf8'))
  const places = isRecord(given) ? Object.entries(given) : []
  const isValid = places.length > 0 && places.every(([, place]) => place === null || typeof place === 'string')
  if (isValid) return Object.fromEntries(places.map(([host, place]) => [host, place === null ? null : String(place)]))
  throw new AgentprotoError('invalid_request', 'The field "after" is not valid', {
    expected: 'the nextCursor of the page before',
    given: after,
    data: { field: 'after' },
  })
}
