import type * as z from 'zod'
import type { ErrorCode } from '../errors.js'
import { defined } from '../json.js'
import type { Scope } from '../principal.js'
import type { WorkspaceService } from '../workspace.js'
import type { ChangeService } from './change-service.js'
import type { HostService } from './host-service.js'
import type { NotificationService } from './notification-service.js'
import type { PermissionService } from './permission-service.js'
import type { AdapterService } from './provisioning.js'
import type { SessionArchive } from './session-archive.js'
import type { SessionService } from './session-service.js'
import type { WorktreeService } from './worktree-service.js'
import type { BrowserLogin, TokenService } from './token-service.js'
import type { UsageService } from './usage-service.js'

/** The services that answer operations, by the name that {@link Operation.calls} begins with. */
export interface Services {
  readonly sessions: SessionService
  /** The rules that answer agents' permission requests. */
  readonly permissions: PermissionService
  /** The stored sessions as documents: search, export, import, prune, repair. */
  readonly archive: SessionArchive
  /** What sessions used, also deleted ones. */
  readonly usage: UsageService
  /** What is done at last with the worktrees of sessions. */
  readonly worktrees: WorktreeService
  /** What sessions changed in their folders. */
  readonly changes: ChangeService
  readonly workspaces: WorkspaceService
  readonly adapters: AdapterService
  /** The hosts of the fleet. */
  readonly hosts: HostService
  /** The named tokens, beside that of the owner. */
  readonly tokens: TokenService
  /** Logs in browsers by a code. */
  readonly browsers: BrowserLogin
  /** What the owner is notified of. */
  readonly notifications: NotificationService
}

/** `<service>.<method>`, or what only the HTTP surface itself answers. */
export type ServiceMethod =
  | { [S in keyof Services]: `${S}.${keyof Services[S] & string}` }[keyof Services]
  | 'health'
  | 'gateway'
  | 'openApi'
  | 'metrics'
  | 'mcp'
  | 'acp'

/** One operation. HTTP routes, access checks, MCP tools, the client's calls and the OpenAPI document follow from it. */
export interface Operation {
  /** OpenAPI `operationId`. */
  readonly name: string
  readonly summary: string
  /** The scope that its caller needs. `open`: no token. */
  readonly scope: Scope | 'open'
  /** The service method that answers it. */
  readonly calls: ServiceMethod
  /** Name of the action in the audit log; absent where nothing is changed. */
  readonly action?: string
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** Successful answers by HTTP status; a handler that returns plain data answers with the first one. */
  readonly answers: Readonly<Record<number, Answer>>
  /** Error codes of its own, beside those that every operation, and every one with a token or a body, has. */
  readonly errors?: readonly ErrorCode[]
  /** The MCP tool for the same operation. */
  readonly tool?: ToolDefinition
}

export interface Answer {
  readonly description: string
  /** Of the JSON; absent for an answer that is no JSON. */
  readonly schema?: z.ZodType
  /** What the messages are, where the answer is sent as server-sent events when `Accept` asks for them. */
  readonly stream?: string
  /** It is only sent as server-sent events. */
  readonly streamOnly?: true
  /** Media types of an answer that is text. */
  readonly text?: readonly string[]
  /** Path of what was created; names in it are filled in from the JSON. */
  readonly location?: string
  /** The answer has an `ETag`, and `If-None-Match` gives 304. */
  readonly etag?: true
  readonly cookie?: true
}

/** An MCP tool. Its scope is that of its operation. */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly input: z.ZodObject
  /** What a caller needs to know before it calls; results may hold more. */
  readonly output: z.ZodObject
  readonly hints?: { readonly destructive?: boolean; readonly idempotent?: true; readonly openWorld?: true }
}

/** `METHOD /path/:param` → operation. */
export type Operations = Readonly<Record<`${'GET' | 'POST' | 'PATCH' | 'DELETE' | 'ALL'} /${string}`, Operation>>

/** Makes operations that need a scope; a member that no operation has does not compile. */
const needing =
  <const S extends Operation['scope']>(scope: S) =>
  <const O extends Omit<Operation, 'name' | 'scope'>>(name: string, operation: O & Only<keyof Operation, O>) => ({
    name,
    scope,
    ...(operation as O),
  })

type Only<Names, O> = { readonly [N in Exclude<keyof O, Names>]: never }

/** Operations by the scope that their caller needs; `name` is the OpenAPI `operationId`. `open` needs no token. */
export const open = needing('open')
export const read = needing('read')
export const operate = needing('operate')
export const admin = needing('admin')

/** An answer of 200 with JSON. */
export const ok = <S extends z.ZodType>(
  schema: S,
  description: string,
  more: Partial<Omit<Answer, 'schema'>> = {},
) => ({ 200: { description, schema, ...more } })

/** An answer of 201 with JSON, and where the new resource is. */
export const created = <S extends z.ZodType>(schema: S, description: string, location?: string) => ({
  201: { description, schema, ...defined({ location }) },
})

/** A read whose answer has an `ETag`. */
export const tagged = <S extends z.ZodType>(schema: S, description: string) => ({
  200: { description, schema, etag: true as const },
  304: { description: 'Unchanged since the answer that `If-None-Match` names', etag: true as const },
})

/** The event streams of one HTTP surface. */
export interface StreamStats {
  readonly open: number
  /** Streams that were refused because of the limit, since the start. */
  readonly refused: number
  /** Stored events that the slowest reader has not read. */
  readonly behind: number
}
