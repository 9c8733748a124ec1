import { AgentprotoError } from '@agentproto/contracts'
import * as z from 'zod'

/** Settings of the adapter, in `metadata.agentproto.adapter` of the manifest. */

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
  /** Regular expression of the whole last line while the program waits. */
  pattern,
  options: z
    .array(
      z.strictObject({
        optionId: key,
        name: key.optional(),
        kind: z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
        /** The text to type; Enter follows. */
        reply: z.string().max(500),
      }),
    )
    .min(1)
    .max(16),
})

const settings = z.strictObject({
  /**
   * Regular expression of the whole line on which the program waits for a prompt. A group named `said` matches output
   * before the prompt on that line, for answers that end without a newline.
   */
  prompt: pattern,
  /** Regular expression of the prompt before further lines of one input; only used to remove the echo. */
  continuation: pattern.optional(),
  /** How a prompt of several lines is typed. Without it, such a prompt is refused. */
  multiline: z
    .union([z.literal('paste'), z.strictObject({ open: z.string().max(100), close: z.string().max(100) })])
    .optional(),
  /** Questions that the program asks within a turn, each on a line that waits. */
  questions: z.array(question).max(32).default([]),
  /** The key that interrupts a turn. Default: Ctrl-C. */
  interrupt: key.default('\u0003'),
  /** How long the program must be silent before its last line is looked at, in milliseconds. */
  quietMs: z.int().min(10).max(5_000).default(60),
  /** Limit of a typed line, in bytes. A program that reads whole lines from its terminal loses the rest of a longer line. */
  maxLineBytes: z.int().min(80).max(1_000_000).default(4_095),
  columns: z.int().min(20).max(10_000).default(4_096),
})

export type ReplSettings = z.output<typeof settings>
export type ReplQuestion = ReplSettings['questions'][number]

/** @throws `manifest_invalid`, naming the key */
export function parseSettings(input: unknown): ReplSettings {
  const parsed = settings.safeParse(input ?? {})
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the block'}: ${message}`)
  throw new AgentprotoError('manifest_invalid', `metadata.agentproto.adapter is not valid: ${problems.join('; ')}`, {
    expected: 'at least the key prompt, a regular expression of the line on which the program waits',
  })
}
