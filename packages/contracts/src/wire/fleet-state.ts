import * as z from 'zod'
import { count } from './session-responses.js'
import type { ValueOf } from './value-of.js'

export const fleetState = z.object({
  /** Name of this host in it. */
  host: z.string(),
  joined: z.boolean().describe('Whether this host is one of the fleet now'),
  problem: z.string().optional().describe('Why the fleet could not be joined, at the last attempt'),
  lag: count.describe('Stored events that other hosts cannot read yet'),
  nats: z
    .object({
      /** Address of the NATS server that is used. */
      server: z.string(),
      version: z.string(),
      servers: count.describe('How many NATS servers there are, as far as that one knows'),
      replicas: count.describe('How many of them store each message'),
    })
    .optional()
    .describe('Absent until the fleet was joined'),
  clockAheadMs: z
    .int()
    .optional()
    .describe('By how much the clock of this host is ahead of that of the NATS server; negative when it is behind'),
  unguarded: z
    .string()
    .optional()
    .describe(
      'Why agents of sessions that may move could run on while this gateway is frozen and another host goes on; absent while none could',
    ),
})
/** What a gateway knows of its fleet. */
export type FleetState = ValueOf<typeof fleetState>
