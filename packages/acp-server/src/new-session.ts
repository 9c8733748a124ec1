import { type AgentCapabilities, AgentprotoError, defined } from '@agentproto/contracts'
import { parseWire, type SpawnAgentRequest, spawnAgentSchema } from '@agentproto/contracts/wire'
import type { AcpOpenRequest, AcpSessions } from './acp-host.js'

/** What the host gives each new session that a client opens. */
export type SessionDefaults = Pick<
  SpawnAgentRequest,
  'workspaceSlug' | 'label' | 'mode' | 'options' | 'permissionMode'
> & { readonly adapter?: string | undefined }

/** A start whose adapter may not be chosen yet. */
export type WantedSession = Omit<SpawnAgentRequest, 'adapter'> & { adapter?: string | undefined }

/** What a client wants of one session, in `_meta.agentproto`. It overrides the defaults. */
const metaSchema = spawnAgentSchema
  .pick({ workspaceSlug: true, label: true, title: true, mode: true, options: true, permissionMode: true, on: true })
  .extend({ adapter: spawnAgentSchema.shape.adapter.optional() })

/** The start that a client's `session/new` asks for. @throws `invalid_request` */
export function wantedSession(
  defaults: SessionDefaults,
  { cwd, additionalDirectories, mcpServers, meta }: AcpOpenRequest,
): WantedSession {
  const wanted: WantedSession = { ...defined(defaults), ...parseWire(metaSchema, meta ?? {}, '_meta.agentproto') }
  const given = { ...defined({ mcpServers: some(mcpServers), additionalDirectories: some(additionalDirectories) }) }
  return {
    ...wanted,
    ...(wanted.workspaceSlug === undefined ? parseWire(folderSchema, { cwd }, 'session/new') : {}),
    ...parseWire(givenSchema, given, 'session/new'),
  }
}

const folderSchema = spawnAgentSchema.pick({ cwd: true })
const givenSchema = spawnAgentSchema.pick({ mcpServers: true, additionalDirectories: true })

const some = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list)

/** How a caller names the adapter of a session. */
export interface AdapterNaming {
  /** What is expected, given the slugs of the installed ones. */
  readonly expected: (slugs: readonly string[]) => string
  readonly hint: string
}

/** The adapter of a session that names none. @throws `invalid_request` unless one alone is installed */
export function onlyInstalled(
  adapters: readonly { readonly slug: string; readonly installed: boolean }[],
  { expected, hint }: AdapterNaming,
): string {
  const installed = adapters.filter((adapter) => adapter.installed).map(({ slug }) => slug)
  const [only, second] = installed
  if (only !== undefined && second === undefined) return only
  throw new AgentprotoError('invalid_request', 'No adapter is chosen', { expected: expected(installed), hint })
}

/** The capabilities that the newest session of an adapter reported; undefined before the first one has. */
export async function reportedCapabilities(
  sessions: Pick<AcpSessions, 'list'>,
  adapter: string,
): Promise<AgentCapabilities | undefined> {
  const page = await sessions.list({ adapter, limit: 10 })
  return page.sessions.find(({ agent }) => agent !== undefined)?.agent?.capabilities
}
