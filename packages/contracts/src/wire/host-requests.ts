import * as z from 'zod'
import { SCOPES } from '../principal.js'
import { addRuleSchema, label, optionValue, path, slug } from './requests.js'

// Requests that concern the gateway and not one session.

export const addWorkspaceSchema = z.strictObject({
  path,
  slug: slug.optional(),
  label: label.optional(),
  use: z.boolean().optional(),
})

export type AddWorkspaceRequest = Readonly<z.infer<typeof addWorkspaceSchema>>

export const createTokenSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'letters, digits, ".", "_" and "-", at most 64')
    .refine((name) => name !== 'owner', 'another name than "owner"'),
  scope: z.enum(SCOPES),
  workspaces: z.array(slug).min(1).max(100).optional(),
})

const keepCreated = 'Keep the tokens that it created; otherwise they end'
export const revokeTokenQuerySchema = z.strictObject({ keepCreated: z.stringbool().optional().describe(keepCreated) })
export const rotateTokenSchema = z.strictObject({ keepCreated: z.boolean().optional().describe(keepCreated) })

/** Install, setup and login of an agent; the route gives `until`. */
export const provisionRequestSchema = z.strictObject({
  force: z.boolean().optional().describe('Run the phase again even if it is done'),
  latest: z.boolean().optional().describe('Install the newest version, not the one that was tested'),
  allowUnverified: z.boolean().optional().describe('Run an installer or unpack a download that has no checksum'),
  workspaceSlug: slug.optional().describe('Set up for this workspace only; for all when absent'),
  inputs: z.record(slug, optionValue).optional().describe('Answers to setup steps by their id'),
})

export const doctorRequestSchema = z.strictObject({
  live: z.boolean().optional().describe('Also start the agent, prompt, interrupt, resume and end it'),
  prompt: z.string().min(1).max(10_000).optional().describe('A prompt; default a short greeting'),
  longPrompt: z
    .string()
    .min(1)
    .max(10_000)
    .optional()
    .describe('A prompt with an answer that is long enough to interrupt'),
})

export const addAdapterSchema = z.strictObject({
  source: path.describe('Absolute folder with an AGENT-CLI.md, or an npm package'),
})

/** A rule of a workspace stays until it is removed: a lifetime is refused, not ignored. */
export const workspaceRuleSchema = addRuleSchema.omit({ lifetime: true })

/** What the login of a browser may do: everything, unless it says less. */
export const browserCodeSchema = createTokenSchema
  .pick({ workspaces: true })
  .extend({ scope: z.enum(SCOPES).optional() })
export type BrowserCodeRequest = Readonly<z.infer<typeof browserCodeSchema>>

/** What a browser sends instead of a token. */
export const exchangeQuerySchema = z.strictObject({
  code: z.string().min(1).max(200).describe('From POST /auth/code'),
})
