import { AgentprotoError } from '@agentproto/contracts'
import * as z from 'zod'

/** What a manifest says of its prompt, in `metadata.agentproto.adapter`. */

const key = z.string().min(1).max(64)
const pattern = z
  .string()
  .min(1)
  .max(500)
  .transform((source, context) => {
    try {
      return new RegExp(`^(?:${source})\\s*$`, 'u')
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) })
      return z.NEVER
    }
  })

const question = z.strictObject({
  /** Of the whole last line, when it waits. */
  pattern,
  options: z
    .array(
      z.strictObject({
        optionId: key,
        name: key.optional(),
        kind: z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
        /** What is typed; Enter follows. */
        reply: z.string().max(500),
      }),
    )
    .min(1)
    .max(16),
})

const settings = z.strictObject({
  /**
   * Regular expression of the whole line on which it waits for a prompt. A group named `said` is what stands there
   * before the prompt, where answers may end without a newline.
   */
  prompt: pattern,
  /** Regular expression of what stands before further lines of one input; it is only taken off the echo. */
  continuation: pattern.optional(),
  /** How a prompt of several lines is typed. Without it, one is refused. */
  multiline: z
    .union([z.literal('paste'), z.strictObject({ open: z.string().max(100), close: z.string().max(100) })])
    .optional(),
  /** Questions that it asks in the middle of a turn, each a line that waits. */
  questions: z.array(question).max(32).default([]),
  /** What is typed to interrupt a turn. Default: Ctrl-C. */
  interrupt: key.default('\u0003'),
  /** How long it must have been silent before its last line counts, in milliseconds. */
  quietMs: z.int().min(10).max(5_000).default(60),
  /** Longest line that is typed, in bytes. A program that reads whole lines from its terminal loses the rest of a longer one. */
  maxLineBytes: z.int().min(80).max(1_000_000).default(4_095),
  columns: z.int().min(20).max(10_000).default(4_096),
})

export type ReplSettings = z.output<typeof settings>
export type ReplQuestion = ReplSettings['questions'][number]

/**
 * @throws `manifest_invalid`, naming the place
 */
export function parseSettings(input: unknown): ReplSettings {
  const parsed = settings.safeParse(input ?? {})
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the block'}: ${message}`)
  throw new AgentprotoError('manifest_invalid', `metadata.agentproto.adapter is not valid: ${problems.join('; ')}`, {
    expected: 'at least the key prompt, a regular expression of the line on which the program waits',
  })
}
