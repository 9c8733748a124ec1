import * as z from 'zod'
import type { AgentAnswer } from '../agent-request.js'
import { defined } from '../json.js'
import { RULE_LIFETIMES } from '../permission-rule.js'
import { BOUNDS, isWithinDepth } from './requests.js'

const isShallow = (content: unknown): boolean => isWithinDepth(content, BOUNDS.contentDepth)

/** An answer: `optionId` for a permission; `action` for a question, and to cancel either. */
export const answerRequestSchema = z.union([
  z.strictObject({
    optionId: z.string().min(1),
    remember: z
      .enum(RULE_LIFETIMES)
      .optional()
      .describe('Make it a rule for the same call; a denial also for its command or path'),
  }),
  z.strictObject({
    action: z.enum(['accept', 'decline', 'cancel']),
    content: z.record(z.string(), z.unknown()).refine(isShallow, `at most ${BOUNDS.contentDepth} levels`).optional(),
  }),
])
export type AnswerRequest = z.infer<typeof answerRequestSchema>

/** The answer that the agent receives. */
export function toAgentAnswer(given: AnswerRequest): AgentAnswer {
  if ('optionId' in given) {
    const { optionId, remember } = given
    return { outcome: 'selected', optionId, ...defined({ remember }) }
  }
  if (given.action === 'decline') return { outcome: 'decline' }
  if (given.action === 'cancel') return { outcome: 'cancelled' }
  return given.content === undefined ? { outcome: 'accept' } : { outcome: 'accept', content: given.content }
}
