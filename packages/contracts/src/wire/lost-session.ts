import * as z from 'zod'
import { PERMISSION_MODES } from '../agent-request.js'
import { SESSION_STATUSES, STOP_REASONS } from '../session.js'
import { BOUNDS, label, optionValue, slug, spawnAgentSchema } from './requests.js'
import { budgetSchema } from './usage.js'

// What is used of a session that another host had. Its folders, its agent and how that was started are not: they mean nothing here.

const time = z.iso.datetime({ precision: 3 })
const count = z.int().min(0)

const grantSchema = z.object({
  ttlSeconds: z.int().min(1).max(BOUNDS.ttlSeconds),
  maxDepth: z.int().min(0).max(8),
  maxChildren: z.int().min(1).max(64),
  permissionMode: z.enum(PERMISSION_MODES),
  adapters: z.array(slug).max(64),
  modes: z.array(slug).max(64),
  options: z.array(slug).max(64),
})

/** Of a session's record. Members that decide what an agent may do are never left out where they cannot be read: that is refused. */
export const lostSessionSchema = z.object({
  id: z.string().min(1).max(80),
  adapterSlug: slug,
  workspaceSlug: slug,
  status: z.enum(SESSION_STATUSES),
  startedAt: time,
  lastActiveAt: time,
  stopReason: z.enum(STOP_REASONS).optional(),
  killedAt: time.optional(),
  expiresAt: time.optional(),
  label: label.optional(),
  title: label.optional(),
  permissionMode: z.enum(PERMISSION_MODES),
  resumable: z.boolean(),
  turnCount: count,
  lastSeq: count,
  queuedPrompts: count.optional(),
  onHostLoss: z.literal('move').optional(),
  parentSessionId: z.string().max(80).optional(),
  imported: z.unknown().optional(),
  forkedFrom: z.string().max(80).optional(),
  delegation: grantSchema.optional(),
  budget: budgetSchema.optional(),
  worktree: z.object({ branch: z.string().min(1).max(200), base: z.string().min(1).max(200) }).optional(),
})
export type LostRecord = z.infer<typeof lostSessionSchema>

const change = z.union([
  z.strictObject({ mode: z.string().min(1).max(200) }),
  z.strictObject({ model: z.string().min(1).max(200) }),
  z.strictObject({ optionId: z.string().min(1).max(200), value: z.union([z.string().max(1_000), z.boolean()]) }),
])

/** Of its start. */
export const movedSettingsSchema = spawnAgentSchema
  .pick({ mode: true, instructions: true, continuation: true, title: true, loops: true, requestTimeoutMs: true })
  .extend({
    options: z.record(z.string().max(80), optionValue).optional(),
    envelope: z.literal(true).optional(),
    budget: budgetSchema.optional(),
    changes: z.array(change).max(100).optional(),
    mcpServers: count.optional(),
  })
