import * as z from 'zod'
import type { AdapterSessionPolicy } from '../agent/adapter-catalog.js'
import { PROTOCOLS } from '../agent/protocol-arm.js'
import { SCOPES } from '../principal.js'
import type { Budget } from '../usage.js'
import { agentEndpoint } from './agent-endpoint.js'
import { observedAgent } from './agent-observation.js'
import { fleetState } from './fleet-state.js'
import { count, time } from './session-responses.js'
import { of, type ValueOf } from './value-of.js'

// What the gateway answers about itself, its workspaces, adapters and tokens.

export const workspace = z.object({
  slug: z.string(),
  /** Absolute. */
  path: z.string(),
  addedAt: time,
  updatedAt: time,
  label: z.string().optional(),
})
/** AIP-46: a named folder. */
export type Workspace = ValueOf<typeof workspace>
export const workspaces = z.object({
  version: z.literal(1),
  active: z.string().optional(),
  workspaces: z.array(workspace),
})
/** The file `workspaces.json`, exactly. */
export type WorkspacesFile = ValueOf<typeof workspaces>
export const workspaceRemoved = z.object({ ok: z.literal(true), slug: z.string() })

const host = z.object({
  /** In the fleet; without one that of the machine. */
  name: z.string(),
  self: z.literal(true).optional().describe('It is the host that answers'),
  reachable: z.boolean().describe('Whether it was heard from within its lease'),
  stopped: z.literal(true).optional().describe('It was stopped, and not lost'),
  /** Of agentproto. */
  version: z.string(),
  labels: z.record(z.string(), z.string()),
  liveSessions: count,
  freeSessions: count.describe('How many more live sessions it takes'),
  adapters: z.array(z.string()).describe('Those whose agent is installed'),
  workspaces: z.array(z.string()).describe('Those that the caller may see'),
  lag: count.describe('Stored events that other hosts cannot read yet'),
  lastSeen: time,
  clockAheadMs: z
    .int()
    .optional()
    .describe('By how much its clock is ahead of that of the host that answers; negative when it is behind'),
})
/** A host of the fleet, as it last reported. */
export type Host = ValueOf<typeof host>
export const hosts = z.object({ hosts: z.array(host) })

export const adapterRemoved = z.object({
  ok: z.literal(true),
  slug: z.string(),
  /** Whether its installed agent and the record of its setup are gone too: not if another adapter has its name. */
  agentRemoved: z.boolean(),
  consentsLeft: z
    .array(z.string())
    .optional()
    .describe(
      'Of an agent that runs elsewhere: the entries of `endpoints.private` that no adapter needs any more. Only the owner’s commands write config.json',
    ),
})

const optionBase = { id: z.string(), description: z.string().optional() }
const adapterOption = z.discriminatedUnion('type', [
  z.object({ ...optionBase, type: z.literal('boolean'), default: z.boolean().optional() }),
  z.object({
    ...optionBase,
    type: z.literal('integer'),
    default: z.int().optional(),
    min: z.int().optional(),
    max: z.int().optional(),
  }),
  z.object({ ...optionBase, type: z.literal('string'), default: z.string().optional() }),
  z.object({ ...optionBase, type: z.literal('enum'), default: z.string().optional(), enum: z.array(z.string()) }),
])
/** AIP-45 `options`: a value that a start may set, with the members that its type has. */
export type AdapterOption = ValueOf<typeof adapterOption>

export const registryOrigin = z.object({
  source: z.string().describe('Address of the registry, or the file'),
  /** Of the entry. */
  id: z.string(),
  name: z.string(),
  version: z.string(),
  addedAt: time,
  icon: z
    .string()
    .max(2_048)
    .optional()
    .describe('Address of its icon; `GET /adapters/:slug/icon` returns a clean copy'),
})

export const adapter = z.object({
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  /** Version of the manifest. */
  version: z.string(),
  protocol: z.enum(PROTOCOLS),
  /** Whether its executable is on this host. */
  installed: z.boolean(),
  /** Where its manifest came from. */
  source: z.enum(['bundled', 'user', 'workspace', 'host']),
  /** How to install it. */
  installHint: z.string().optional(),
  /** Parts of the manifest that were not verified with the real agent, in the words of its author; absent if all were. */
  unverified: z.array(z.string()).optional(),
  /** The entry of a registry that its manifest was written from; absent for any other. */
  registry: registryOrigin.optional(),
  /** What was measured when it was added from a registry; absent for any other. */
  observed: observedAgent.optional(),
  /** Absent for an agent that is launched here. */
  endpoint: agentEndpoint.optional(),
  /** Ids of its modes. */
  modes: z.array(z.string()),
  /** What its modes do, by id; modes whose manifest does not say it are absent. */
  modeDescriptions: z.record(z.string(), z.string()),
  /** Those that it allows: any if `allowed` is absent. The model of a start is its option `model`. */
  models: z.object({ default: z.string().optional(), allowed: z.array(z.string()).optional() }),
  /** In the order of the manifest. */
  options: z.array(adapterOption),
  session: of<AdapterSessionPolicy>(z.object({ mode: z.enum(['ephemeral', 'persistent', 'resumable']) })),
})
export type AdapterSummary = ValueOf<typeof adapter>
export const adapters = z.object({ adapters: z.array(adapter) })

const secret = z.object({
  slug: z.string(),
  kind: z.enum(['opaque', 'oauth', 'keypair', 'json']),
  set: z.boolean(),
  /** Where its value is stored. */
  place: z.enum(['environment', 'keyring', 'file']).optional(),
  /** Environment variables that pass it to an agent. */
  variables: z.array(z.string()),
  /** When it was last set here. */
  updatedAt: time.optional(),
  /** Of the access token of an oauth secret. */
  expiresAt: time.optional(),
})
/** A secret as all but its store see it: by slug, never by value (AIP-19). */
export type SecretStatus = ValueOf<typeof secret>
export type SecretKind = SecretStatus['kind']
export type SecretPlace = NonNullable<SecretStatus['place']>
export const secrets = z.object({ secrets: z.array(secret) })

const setupInput = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('value'),
    prompt: z.string(),
    type: z.enum(['text', 'select', 'boolean', 'secret']),
    options: z.array(z.object({ value: z.string(), label: z.string() })).optional(),
    default: z.union([z.string(), z.number(), z.boolean()]).optional(),
    /** A page that shows the value, or on which the user has to do something. */
    url: z.string().optional(),
  }),
  z.object({ kind: z.literal('secret'), slug: z.string() }),
  z.object({ kind: z.literal('terminal'), command: z.string() }),
])
/** The input that a pending step needs. */
export type SetupInput = ValueOf<typeof setupInput>
const setupStep = z.object({
  id: z.string(),
  kind: z.enum(['cmd', 'prompt', 'oauth', 'external']),
  state: z.enum(['pending', 'done', 'skipped']),
  description: z.string().optional(),
  /** When it was done or skipped. */
  at: time.optional(),
  needs: setupInput.optional(),
})
/** One setup step, and the input that it needs. */
export type SetupStepState = ValueOf<typeof setupStep>
export const adapterState = z.object({
  slug: z.string(),
  installed: z.boolean(),
  /** Absolute path of the executable. */
  executable: z.string().optional(),
  /** The install method that succeeded; absent if the agent was already installed. */
  method: z.string().optional(),
  /** At the last check. */
  version: z.string().optional(),
  versionRange: z.string(),
  versionOk: z.boolean().optional(),
  checkedAt: time.optional(),
  setup: z.array(setupStep),
  auth: z.enum(['not_needed', 'unknown', 'unauthed', 'authed']),
  /** The manifest's login command. */
  login: z.string().optional(),
  /** What the agent said when it opened no session without a login; absent where its login is known. */
  loginHint: z.string().optional(),
  /** The secrets that the manifest declares. */
  secrets: z.array(secret),
  ready: z.boolean().describe('Whether a session can be started, as far as this host knows'),
  /** The next command to run. */
  next: z.string().optional(),
})
/** The provisioning state of an agent on this host. */
export type AdapterRemoved = ValueOf<typeof adapterRemoved>
export type AdapterState = ValueOf<typeof adapterState>

const doctorCheck = z.object({
  /** Stable, such as `version` or `live.resume`. */
  id: z.string(),
  title: z.string(),
  verdict: z.enum(['ok', 'warn', 'fail', 'skip']),
  detail: z.string(),
  /** What the manifest declares and what was found, if they were compared. */
  declared: z.string().optional(),
  found: z.string().optional(),
  hint: z.string().optional(),
})
/** One finding about an agent. */
export type DoctorCheck = ValueOf<typeof doctorCheck>
export const doctorReport = z.object({ slug: z.string(), ok: z.boolean(), checks: z.array(doctorCheck) })
export type DoctorReport = ValueOf<typeof doctorReport>

const token = z.object({
  name: z.string(),
  scope: z.enum(SCOPES),
  workspaces: z.array(z.string()).optional(),
  /** Those of its workspaces that were removed, or whose slug another folder has now: it allows nothing there. */
  lost: z.array(z.string()).optional(),
  /** Name of the token that created it, also through a browser login; absent if that was the owner. */
  createdBy: z.string().optional(),
  createdAt: time,
  /** Absent if it was never rotated. */
  rotatedAt: time.optional(),
  /** Absent if it does not expire. */
  expiresAt: time.optional(),
  /** When it was last sent; absent if it never was. After a crash of the gateway it may be an hour before the last use. */
  lastUsedAt: time.optional(),
})
/** A named token as it is listed. Its value is only returned when it is created. */
export type NamedToken = ValueOf<typeof token>
export const tokens = z.object({ tokens: z.array(token) })
export const newToken = token.extend({ token: z.string() })
/** A token with its value. */
export type NewToken = ValueOf<typeof newToken>
const createdTokens = z.object({
  /** Names of the tokens that it had created, and that these had created: they ended with it. */
  ended: z.array(z.string()),
  /** With `keepCreated`: the same, but they stay valid. */
  kept: z.array(z.string()),
})
/** What became of the tokens that a token had created. */
export type CreatedTokens = ValueOf<typeof createdTokens>
export const tokenRevoked = createdTokens.extend({ ok: z.literal(true), name: z.string() })
export const rotatedToken = newToken.extend(createdTokens.shape)
/** A token with its new value. */
export type RotatedToken = ValueOf<typeof rotatedToken>

const issuedCode = z.object({ code: z.string(), expiresAt: time })
export type BrowserCode = ValueOf<typeof issuedCode>
/** `page`: the console, with the code in the fragment, which is sent to no server. */
export const browserCode = issuedCode.extend({
  path: z.string(),
  page: z.string(),
  url: z.string().optional().describe('The page at the public address of the gateway, where it has one'),
})
/** `type`: the owner, a named token or the agent of a session. `workspaces`: absent for all. */
export const caller = z.object({
  name: z.string(),
  type: z.enum(['owner', 'token', 'session']),
  scope: z.enum(SCOPES),
  workspaces: z.array(z.string()).optional(),
})
export type Caller = ValueOf<typeof caller>
export const loggedOut = z.object({ ok: z.literal(true), name: z.string() })
export const browserLogin = z.object({ ok: z.literal(true), name: z.string(), expiresAt: time })

const budget = of<Budget>(z.object({}))
export const gatewayInfo = z.object({
  version: z.string(),
  /** Absolute folder of its state; absent if it stores nothing. */
  home: z.string().optional(),
  startedAt: time,
  /** Of the machine. */
  host: z.string(),
  /** Version of Node. */
  node: z.string(),
  /** In Node's terms, such as `linux`. */
  platform: z.string(),
  keeper: z
    .object({ pid: z.int(), wire: z.int(), build: z.string() })
    .optional()
    .describe('The process that holds the pipes of agents; absent where they end with the gateway'),
  fleet: fleetState.optional().describe('The fleet of its configuration; absent without one'),
  budgets: z.object({
    session: budget.optional().describe('Of each session whose start names none'),
    day: budget.optional().describe('Of all sessions together, each day (UTC)'),
    workspaces: z.record(z.string(), z.object({ day: budget.optional(), total: budget.optional() })),
  }),
})
/** What a gateway is, and the budgets of its configuration. */
export type GatewayInfo = ValueOf<typeof gatewayInfo>
export const health = z.object({ ok: z.literal(true), version: z.string() })
export const openApi = z.object({ openapi: z.literal('3.1.1') })
