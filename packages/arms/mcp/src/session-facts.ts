import { notAdoptable } from '@agentproto/arm-kit'
import { defined, type Json } from '@agentproto/contracts'
import * as z from 'zod'
import type { PromptTool, PromptTools } from './tools.js'

const tool = z.object({
  name: z.string(),
  argument: z.string(),
  session: z.string().optional(),
  extra: z.record(z.string(), z.unknown()),
})

const factsSchema = z.object({
  protocol: z.literal('mcp'),
  server: z.object({ name: z.string().optional(), version: z.string().optional() }),
  tools: z.object({ prompt: tool, reply: tool.optional() }),
  folders: z.array(z.string()),
  warnings: z.array(z.string()),
  conversation: z.object({ id: z.string().optional(), isBegun: z.boolean(), over: z.string().optional() }),
  calls: z.object({ next: z.number(), forgotten: z.array(z.number()) }),
})

/** What a later host needs to go on with a session at an idle point. */
export type SessionFacts = z.output<typeof factsSchema>

/** @throws `not_adoptable` */
export function readSessionFacts(facts: Json): SessionFacts {
  const parsed = factsSchema.safeParse(facts)
  if (parsed.success) return parsed.data
  throw notAdoptable(`What is stored of its session cannot be read: ${parsed.error.issues[0]?.path.join('.') ?? ''}`)
}

/** The tools that turns call. */
export const toolsOf = ({ tools: { prompt, reply } }: SessionFacts): PromptTools => ({
  prompt: promptTool(prompt),
  ...defined({ reply: reply && promptTool(reply) }),
})

const promptTool = ({ session, ...needed }: z.output<typeof tool>): PromptTool => ({
  ...needed,
  ...defined({ session }),
})
