import * as z from 'zod'

// What tools return, as far as a caller needs to know beforehand; each object may hold more.

/** AIP-46 §Session data model. */
export const sessionResult = z.looseObject({
  id: z.string(),
  adapterSlug: z.string(),
  workspaceSlug: z.string(),
  cwd: z.string(),
  status: z.enum(['starting', 'running', 'exited', 'killed', 'error']),
  startedAt: z.string(),
})

export const acknowledged = z.looseObject({ ok: z.boolean(), sessionId: z.string() })

export const sessionId = z.string().min(1)
