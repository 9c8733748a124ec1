import * as z from 'zod'
import { BOUNDS } from './requests.js'

/** A page of the requests that wait for a person. */
export const waitingQuerySchema = z.strictObject({
  limit: z.coerce.number().int().min(1).max(BOUNDS.requestsMax).optional(),
  after: z.string().max(200).optional().describe('nextCursor of the previous page'),
})
export type WaitingQuery = z.infer<typeof waitingQuerySchema>
