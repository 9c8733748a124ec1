import { AgentprotoError, parseJson } from '@agentproto/contracts'
import * as z from 'zod'

/** Where the search goes on at each host: a cursor of that host, or null for its beginning. A host that is done is absent. */
export type SearchPlaces = Readonly<Record<string, string | null>>

const placesSchema = z
  .record(z.string().max(128), z.string().nullable())
  .refine((places) => Object.keys(places).length > 0)
const MAX_CHARS = 64 * 1024

export const toCursor = (places: SearchPlaces): string => Buffer.from(JSON.stringify(places)).toString('base64url')

/** @throws `invalid_request` */
export function fromCursor(after: string): SearchPlaces {
  const given = after.length > MAX_CHARS ? undefined : parseJson(Buffer.from(after, 'base64url').toString('utf8'))
  const { success, data } = placesSchema.safeParse(given)
  if (success) return data
  throw new AgentprotoError('invalid_request', 'The field "after" is not valid', {
    expected: 'the nextCursor of the page before',
    given: after,
    data: { field: 'after' },
  })
}
