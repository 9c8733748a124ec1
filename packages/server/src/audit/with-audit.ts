import { type ContentBlock, type Principal, toAgentprotoError, traceIdOf } from '@agentproto/contracts'
import { type Operation, OPERATIONS, type Services } from '@agentproto/contracts/wire'
import { wrapMethods } from '../wrap-methods.js'
import type { AuditWriter } from './audit-log.js'

/** What is known of a call before it runs. */
export interface Call {
  readonly action: string
  readonly by: Principal | undefined
  readonly session?: string | undefined
  readonly about?: Readonly<Record<string, unknown>>
  /** Of a fleet: the other host that does it, and which one has a session that was created. */
  readonly host?: string | undefined
  readonly hostOf?: HostOf | undefined
}

/** Of a fleet: the other host that has a session. */
export type HostOf = (sessionId: string) => string | undefined

export interface AuditTarget {
  readonly log: AuditWriter
  readonly hostOf?: HostOf | undefined
}

/** The same service; each call of an operation with an `action` leaves a line: who called, and how it ended. */
export function withAudit<S extends keyof Services>(
  name: S,
  service: Services[S],
  { log, hostOf }: AuditTarget,
): Services[S] {
  return wrapMethods(service, (member, run) => {
    const method = `${name}.${member}` as AuditedMethod
    const action = ACTIONS.get(method)
    if (action === undefined) return run
    const details = DETAILS[method] as (...args: readonly unknown[]) => CallDetails
    return function audited(...args) {
      const call = located({ action, hostOf, ...details(...args) })
      const result = run(...args)
      const isStream = typeof result === 'object' && result !== null && Symbol.asyncIterator in result
      return isStream ? auditStream(log, call, result as AsyncIterable<unknown>) : auditPromise(log, call, result)
    }
  })
}

/** Asked before it runs: a session that is deleted is on no host afterwards. */
function located(call: Call): Call {
  const { session = call.about?.['session'], hostOf } = call
  return typeof session === 'string' ? { ...call, host: hostOf?.(session) } : call
}

/** Waits for the work, then writes its line: the code of an error, never its text. */
export async function auditPromise<T>(log: AuditWriter, call: Call, work: T | Promise<T>): Promise<T> {
  try {
    const result = await work
    writeLine(log, call.session === undefined ? withResult(call, result) : call, 'ok')
    return result
  } catch (error) {
    writeLine(log, call, toAgentprotoError(error).code)
    throw error
  }
}

/** The same for an operation that reports its progress; a reader that stops early ends it as `cancelled`. */
async function* auditStream<T>(log: AuditWriter, call: Call, work: AsyncIterable<T>): AsyncGenerator<T> {
  let outcome = 'cancelled'
  try {
    yield* work
    outcome = 'ok'
  } catch (error) {
    outcome = toAgentprotoError(error).code
    throw error
  } finally {
    writeLine(log, call, outcome)
  }
}

function writeLine(log: AuditWriter, { action, by, session, host, about }: Call, outcome: string): void {
  const principal = by === undefined ? undefined : { type: by.type, name: by.name, via: by.via }
  const traceId = by?.trace && traceIdOf(by.trace)
  log.write({ kind: 'control', principal, action, session, host, outcome, traceId, ...about })
}

/** With the session that the operation created, or the tokens that ended with the one that was revoked or rotated. */
function withResult(call: Call, result: unknown): Call {
  if (typeof result !== 'object' || result === null) return call
  if ('id' in result && typeof result.id === 'string')
    return { ...call, session: result.id, host: call.hostOf?.(result.id) }
  if (!('ended' in result) || !Array.isArray(result.ended)) return call
  return { ...call, about: { ...call.about, ended: result.ended.filter((name) => typeof name === 'string') } }
}

/** The service methods that change something: those of an operation with an `action`. */
type AuditedMethod = Extract<(typeof OPERATIONS)[keyof typeof OPERATIONS], { readonly action: string }>['calls']

type Arguments<M> = M extends `${infer S extends keyof Services}.${infer N}`
  ? N extends keyof Services[S]
    ? Services[S][N] extends (...args: infer A) => unknown
      ? A
      : never
    : never
  : never

/** Its `action`, where one method has several. */
type CallDetails = Omit<Call, 'action'> & Partial<Pick<Call, 'action'>>

type DetailsTable = { readonly [M in AuditedMethod]: (...args: Arguments<M>) => CallDetails }

/**
 * What the arguments of each audited method say. What was said to an agent is in the session's own events; the audit log has
 * its length. No token and no answer to a setup question is here.
 */
const DETAILS: DetailsTable = {
  'sessions.spawn': ({ adapter, cwd, workspaceSlug, mode, permissionMode, delegation, worktree, prompt }, by) => {
    const about = { adapter, cwd, workspaceSlug, mode, permissionMode, delegates: delegation !== undefined, worktree }
    return { by, about: { ...about, promptChars: charsOf(prompt) } }
  },
  'sessions.prompt': (session, { prompt, whenBusy }, by) => ({
    by,
    session,
    about: { promptChars: charsOf(prompt), whenBusy },
  }),
  // Its session is the new one.
  'sessions.fork': (from, { worktree, prompt }, by) => ({
    by,
    about: { from, worktree, promptChars: charsOf(prompt) },
  }),
  'sessions.resume': (session, request, by) => ({ by, session, about: { ...request } }),
  'sessions.configure': (session, { mode, model, permissionMode, options }, by) => ({
    by,
    session,
    about: { mode, model, permissionMode, options: options && Object.keys(options).slice(0, 50) },
  }),
  'sessions.rename': (session, { title, label }, by) => ({ by, session, about: { titleChars: title?.length, label } }),
  'sessions.interrupt': (session, by, request) => ({ by, session, about: { ...request } }),
  'sessions.kill': (session, by, reason) => ({
    by,
    session,
    about: { reason: typeof reason === 'object' ? 'hook_stopped' : reason },
  }),
  'sessions.forget': (session, by) => ({ by, session }),
  'sessions.answer': ({ id: session, requestId: request }, answer, by) => {
    const { optionId: option, remember } =
      answer.outcome === 'selected' ? answer : { optionId: undefined, remember: undefined }
    return { by, session, about: { request, answer: answer.outcome, option, remember } }
  },
  'permissions.addRule': (scope, request, by) => ({ by, about: { ...request, ...aboutScope(scope) } }),
  'permissions.removeRule': (scope, rule, by) => ({ by, about: { rule, ...aboutScope(scope) } }),
  'worktrees.merge': (session, { strategy }, by) => ({ by, session, about: { strategy } }),
  'worktrees.discard': (session, { force }, by) => ({ by, session, about: { force } }),
  'changes.markReviewed': (session, { turn }, by) => ({ by, session, about: { turn } }),
  'changes.rewind': (session, { paths, ...request }, by) => ({
    by,
    session,
    about: { ...request, paths: paths?.slice(0, 50) },
  }),
  'archive.prune': (request, by) => ({ by, about: { ...request } }),
  'archive.repair': (session, options, by) => ({ by, session, about: { ...options } }),
  'archive.import': (_text, by) => ({ by }),
  'tokens.create': ({ name: token, scope, workspaces }, by) => ({ by, about: { token, scope, workspaces } }),
  'tokens.revoke': (token, by, options) => ({ by, about: { token, ...options } }),
  'tokens.rotate': (token, by, options) => ({ by, about: { token, ...options } }),
  'notifications.test': (by) => ({ by }),
  'workspaces.add': ({ path, slug: workspace, use }, by) => ({ by, about: { workspace, path, use } }),
  'workspaces.remove': (workspace, by) => ({ by, about: { workspace } }),
  'workspaces.use': (workspace, by) => ({ by, about: { workspace } }),
  'adapters.add': (source, by) => ({ by, about: { source } }),
  'adapters.remove': (adapter, by) => ({ by, about: { adapter } }),
  'adapters.addAgent': (agent, { version, slug: adapter, from, sha256, allowUnverified, allowScripts, force }, by) => ({
    by,
    about: { agent, version, adapter, from, sha256, allowUnverified, allowScripts, force },
  }),
  'adapters.update': (adapter, { sha256, allowUnverified, allowScripts, force, replaceEdited }, by) => ({
    by,
    about: { adapter, sha256, allowUnverified, allowScripts, force, replaceEdited },
  }),
  'adapters.provision': (adapter, { until, force, latest, allowUnverified, workspaceSlug: workspace }, by) => ({
    action: `adapter-${until}`,
    by,
    about: { adapter, force, latest, allowUnverified, workspace },
  }),
  'adapters.doctor': (adapter, { live }, by) => ({ by, about: { adapter, live } }),
}

const ACTIONS: ReadonlyMap<string, string> = new Map(
  Object.values<Operation>(OPERATIONS).flatMap(({ calls, action }) => (action === undefined ? [] : [[calls, action]])),
)

const aboutScope = (scope: { readonly sessionId: string } | { readonly workspaceSlug: string }): object =>
  'sessionId' in scope ? { session: scope.sessionId } : { workspace: scope.workspaceSlug }

function charsOf(prompt: string | readonly ContentBlock[] | undefined): number | undefined {
  if (prompt === undefined || typeof prompt === 'string') return prompt?.length
  return prompt.reduce((sum, block) => sum + blockChars(block), 0)
}

function blockChars(block: ContentBlock): number {
  if (block.type === 'text') return block.text.length
  if (block.type === 'resource_link') return block.uri.length
  if (block.type !== 'resource') return block.data.length
  const { text, blob } = block.resource as { readonly text?: string; readonly blob?: string }
  return (text ?? blob ?? '').length
}
