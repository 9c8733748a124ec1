import * as z from 'zod'

/** The file of one session. The writer bounds every list and text in it. */

const replayEntry = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['message', 'thought']), text: z.string() }),
  z.strictObject({
    kind: z.literal('tool'),
    toolCallId: z.string(),
    title: z.string(),
    toolKind: z.enum(['read', 'edit', 'execute', 'other']),
    failed: z.boolean(),
  }),
])

const storedTurn = z.strictObject({ prompt: z.string(), entries: z.array(replayEntry).readonly() })

export const storedSessionSchema = z.strictObject({
  version: z.literal(1),
  sessionId: z.string(),
  cwd: z.string(),
  modeId: z.string(),
  modelId: z.string(),
  updatedAt: z.string(),
  turnCount: z.number().int(),
  turns: z.array(storedTurn).readonly(),
})

export type StoredSession = Readonly<z.infer<typeof storedSessionSchema>>
export type StoredTurn = Readonly<z.infer<typeof storedTurn>>
export type ReplayEntry = Readonly<z.infer<typeof replayEntry>>
