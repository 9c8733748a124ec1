import type * as z from 'zod'
import type { Scope } from '../principal.js'
import { acpOperations } from './acp-operations.js'
import { archiveOperations } from './archive-operations.js'
import { changeOperations } from './change-operations.js'
import { hostOperations } from './host-operations.js'
import type { Operation } from './operation.js'
import { registryOperations } from './registry-operations.js'
import { sessionOperations } from './session-operations.js'
import type { ValueOf } from './value-of.js'
import { worktreeOperations } from './worktree-operations.js'

/**
 * Every operation of a gateway by its route: the one table from which all surfaces are derived. Routes are matched in
 * this order, so fixed paths (`/sessions/import`) come before parameters (`/sessions/:id`).
 */
export const OPERATIONS = {
  ...archiveOperations,
  ...sessionOperations,
  ...worktreeOperations,
  ...changeOperations,
  ...hostOperations,
  ...registryOperations,
  ...acpOperations,
} as const

/** `METHOD /path/:param` of an operation. */
export type Route = keyof typeof OPERATIONS
type Of<R extends Route> = (typeof OPERATIONS)[R]

/** Names of the parameters in a path. */
type Names<P extends string> = P extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | Names<`/${Rest}`>
  : P extends `${string}/:${infer Name}`
    ? Name
    : never
export type ParamsOf<R extends Route> = { readonly [N in Names<R>]: string }

type Output<S> = S extends z.ZodType ? z.output<S> : undefined
/** The parsed query of an operation. */
export type QueryOf<R extends Route> = Output<Of<R> extends { readonly query: infer S } ? S : undefined>
/** The parsed body of an operation. */
export type BodyOf<R extends Route> = Output<Of<R> extends { readonly body: infer S } ? S : undefined>
/** The JSON of a successful answer. */
export type JsonOf<R extends Route> = {
  [S in keyof Of<R>['answers']]: Of<R>['answers'][S] extends { readonly schema: infer Z extends z.ZodType }
    ? ValueOf<Z>
    : never
}[keyof Of<R>['answers']]

type WithTool = { [R in Route]: Of<R> extends { readonly tool: infer T } ? T : never }[Route]
/** Name of an MCP tool. */
export type ToolName = WithTool['name']
/** The parsed arguments of an MCP tool. */
export type ToolInput<N extends ToolName> = z.output<Extract<WithTool, { readonly name: N }>['input']>

export function operationOf(route: Route): Operation {
  return OPERATIONS[route]
}

/** Every operation that is an MCP tool too, by the name of the tool. */
export const TOOLS = Object.fromEntries(
  Object.values<Operation>(OPERATIONS).flatMap((operation) =>
    operation.tool === undefined ? [] : [[operation.tool.name, { ...operation.tool, scope: operation.scope }]],
  ),
) as Readonly<Record<ToolName, NonNullable<Operation['tool']> & { readonly scope: Scope }>>

/** The scope of a route, given as `METHOD /path`: the routes of one agent's sessions have those of all sessions. */
export function scopeOfRoute(route: string): Scope | undefined {
  const operations: Readonly<Record<string, Operation>> = OPERATIONS
  const operation = operations[route] ?? operations[route.replace(' /agents/:agent/sessions', ' /sessions')]
  return operation?.scope === 'open' ? undefined : operation?.scope
}
