import { addRuleSchema, spawnAgentSchema } from '@agentproto/contracts'
import * as z from 'zod'

// What only HTTP has; the rest of the wire is in contracts.

/** A cursor of lines: `<seq>` alone stands for all that the event completed, so the cursor of `/events` goes on here. */
export const CURSOR = /^\d{1,15}(?:\.\d{1,9})?$/

export const streamQuerySchema = z.looseObject({
  after: z.string().regex(CURSOR).optional().describe('The id of the last message that is known, "<seq>.<n>"'),
})

/** A rule of a workspace holds until it is taken back: a lifetime that says otherwise is refused, not passed over. */
export const workspaceRuleSchema = addRuleSchema.omit({ lifetime: true })

/** What a browser brings instead of a token. */
export const exchangeQuerySchema = z.strictObject({
  code: z.string().min(1).max(200).describe('From POST /auth/code'),
})

/** A spawn below the agent that it is of. */
export const agentSpawnSchema = spawnAgentSchema.omit({ adapter: true })
