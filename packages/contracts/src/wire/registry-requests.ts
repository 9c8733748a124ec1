import * as z from 'zod'
import { path, slug } from './requests.js'

// Requests that concern the agents of the registry, and what was added from it.

/** How the registry is read: by default from its copy while that is young. */
const READ_MODES = ['refresh', 'offline'] as const
const mode = z
  .enum(READ_MODES)
  .optional()
  .describe('refresh: ask the registry whatever the age of its copy; offline: never')
const from = path
  .optional()
  .describe('Absolute file with a registry document or one entry, to use in place of the registry')
const version = z
  .string()
  .regex(/^[A-Za-z0-9][\w.+!-]{0,63}$/, 'a version')
  .optional()
  .describe('Of its package; default that of the entry')
const ownSlug = slug
  .regex(/^[a-z0-9][a-z0-9-]*$/, 'lower-case letters, digits and hyphens')
  .optional()
  .describe('Slug of the adapter; default the id. With one, an agent of the catalogue is added as its entry has it')
const sha256 = z
  .string()
  .regex(/^[A-Fa-f0-9]{64}$/, 'a SHA-256 in hexadecimal')
  .optional()
  .describe('Of the download; another file is refused')

export const agentSearchSchema = z.strictObject({
  text: z.string().max(200).optional().describe('Words that are all in its id, name, description or authors'),
  mode,
  from,
  sizes: z.stringbool().optional().describe('Also look up the sizes, if few agents are found'),
})
export type AgentSearch = Readonly<z.infer<typeof agentSearchSchema>>

export const agentWishSchema = z.strictObject({ version, slug: ownSlug, from })
export type AgentWish = Readonly<z.infer<typeof agentWishSchema>>

const trust = {
  sha256,
  allowUnverified: z.boolean().optional().describe('Use a download without a checksum: that of the first one is kept'),
  allowScripts: z.boolean().optional().describe('Let npm run the install scripts of the package and its dependencies'),
  force: z.boolean().optional().describe('Keep it even if it does not shake hands'),
}

export const addAgentSchema = z.strictObject({ version, slug: ownSlug, from, ...trust })

export const outdatedQuerySchema = z.strictObject({ mode })
export type OutdatedQuery = Readonly<z.infer<typeof outdatedQuerySchema>>

export const updateAgentSchema = z.strictObject({
  ...trust,
  replaceEdited: z.boolean().optional().describe('Replace a manifest that its owner has edited'),
})
