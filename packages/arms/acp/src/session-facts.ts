import { notAdoptable } from '@agentproto/arm-kit'
import type { AgentInfo, Json } from '@agentproto/contracts'
import { defined } from '@agentproto/contracts'
import * as z from 'zod'
import type { ConfigFacts } from './config.js'

const described = { name: z.string(), description: z.string().optional() }
const mode = z.object({ id: z.string(), ...described })
const setting = z.object({
  id: z.string(),
  ...described,
  category: z.string().optional(),
  value: z.union([z.string(), z.boolean()]),
  values: z.array(z.object({ value: z.string(), ...described })).optional(),
})

const capabilities = z.object({
  load: z.boolean(),
  resume: z.boolean(),
  list: z.boolean(),
  close: z.boolean(),
  fork: z.boolean(),
  delete: z.literal(true).optional(),
  image: z.boolean(),
  audio: z.boolean(),
  embeddedContext: z.boolean(),
  mcpHttp: z.boolean(),
  mcpSse: z.boolean(),
  additionalDirectories: z.boolean(),
})

const factsSchema = z.object({
  protocol: z.literal('acp'),
  info: z.object({ name: z.string().optional(), version: z.string().optional(), capabilities }),
  agentSessionId: z.string(),
  warnings: z.array(z.string()),
  phase: z.enum(['loaded', 'live']),
  config: z.object({ modes: z.array(mode), models: z.array(mode), options: z.array(setting) }),
  /** The next ids: of our own requests, of the SDK's, and of the calls of files and commands. */
  next: z.object({ own: z.number(), sdk: z.number(), served: z.number() }),
})

/** What a later host needs to go on with a session at an idle point. */
export type SessionFacts = z.output<typeof factsSchema>

/** @throws `not_adoptable` */
export function readSessionFacts(facts: Json): SessionFacts {
  const parsed = factsSchema.safeParse(facts)
  if (parsed.success) return parsed.data
  throw notAdoptable(`What is stored of its session cannot be read: ${parsed.error.issues[0]?.path.join('.') ?? ''}`)
}

const processSchema = z.object({
  protocol: z.literal('acp'),
  info: factsSchema.shape.info,
  next: z.object({ own: z.number(), sdk: z.number() }),
  /** The agent's ids of sessions that are open, and of some that were closed. */
  open: z.array(z.string()),
  closed: z.array(z.string()),
})

/** What a later host needs to go on with a process that several sessions share. */
export type ProcessFacts = z.output<typeof processSchema>

/** @throws `not_adoptable` */
export function readProcessFacts(facts: Json): ProcessFacts {
  const parsed = processSchema.safeParse(facts)
  if (parsed.success) return parsed.data
  throw notAdoptable(`What is stored of its process cannot be read: ${parsed.error.issues[0]?.path.join('.') ?? ''}`)
}

/** What the agent reported of itself at its start. */
export const infoOf = ({ info: { name, version, capabilities: offered } }: Pick<SessionFacts, 'info'>): AgentInfo => ({
  ...defined({ name, version }),
  capabilities: defined(offered),
})

/** What could be set on the session. */
export const restoredConfig = ({ config: { modes, models, options } }: SessionFacts): ConfigFacts => ({
  modes: modes.map(defined),
  models: models.map(defined),
  options: options.map(({ values, ...option }) => defined({ ...option, values: values?.map(defined) })),
})
