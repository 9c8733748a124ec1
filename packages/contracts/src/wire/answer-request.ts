import * as z from 'zod'
import type { AgentAnswer } from '../agent-request.js'
import { defined } from '../json.js'
import { RULE_LIFETIMES } from '../permission-rule.js'
import { BOUNDS, isWithinDepth } from './requests.js'

const isShallow = (content: unknown): boolean => isWithinDepth(content, BOUNDS.contentDepth)

/** Why, in the words of the person. Agents whose protocol has no place for it do not get it. */
const reason = z
  .string()
  .trim()
  .min(1)
  .max(BOUNDS.reasonChars)
  .optional()
  .describe('Why; for the agent, where its protocol has a place')

/** An answer: `optionId` for a permission; `action` for a question, and to cancel either. */
export const answerRequestSchema = z.union([
  z.strictObject({
    optionId: z.string().min(1),
    remember: z
      .enum(RULE_LIFETIMES)
      .optional()
      .describe('Make it a rule for the same call; a denial also for its command or path'),
    reason,
  }),
  z.strictObject({
    action: z.enum(['accept', 'decline', 'cancel']),
    content: z.record(z.string(), z.unknown()).refine(isShallow, `at most ${BOUNDS.contentDepth} levels`).optional(),
    reason,
  }),
])
export type AnswerRequest = z.infer<typeof answerRequestSchema>

/** The answer that the agent receives. */
export function toAgentAnswer(given: AnswerRequest): AgentAnswer {
  if ('optionId' in given) {
    const { optionId, remember, reason: why } = given
    return { outcome: 'selected', optionId, ...defined({ remember, reason: why }) }
  }
  const { action, content, reason: why } = given
  if (action === 'accept') return { outcome: 'accept', ...defined({ content, reason: why }) }
  return { outcome: action === 'decline' ? 'decline' : 'cancelled', ...defined({ reason: why }) }
}
