import { isAgentprotoError } from '@agentproto/contracts'
import { unreachable } from '../calls/exchange.js'
import type { SessionArchive } from '@agentproto/contracts/wire'
import type { SharedServices } from '../calls/places.js'
import { NOT_KNOWN } from './fleet-ids.js'

/**
 * The services of a host while it may be alone: those of its fleet once it was joined. Until then a session that is not of this
 * host may be of another one: it is not reported as one that does not exist, but as `host_unreachable`.
 */
export const switchedServices = (own: SharedServices, joined: () => SharedServices | undefined): SharedServices => ({
  sessions: switched(own.sessions, () => joined()?.sessions),
  permissions: switched(own.permissions, () => joined()?.permissions),
  archive: switched(withNewIds(own.archive), () => joined()?.archive),
  usage: switched(own.usage, () => joined()?.usage),
  worktrees: switched(own.worktrees, () => joined()?.worktrees),
  changes: switched(own.changes, () => joined()?.changes),
})

/** While this host is alone another one may have the id of a session that is imported. */
const withNewIds = (archive: SessionArchive): SessionArchive => ({
  ...archive,
  import: (text, by) => archive.import(text, by, NOT_KNOWN),
})

/** A service of a host is an object of functions. */
function switched<S extends object>(own: S, joined: () => S | undefined): S {
  const methods = Object.keys(own).map((name) => [
    name,
    (...args: unknown[]): unknown => {
      const service = joined()
      return service === undefined ? alone(called(own, name, args)) : called(service, name, args)
    },
  ])
  return Object.fromEntries(methods) as S
}

function called(service: object, name: string, args: unknown[]): unknown {
  const method: unknown = Reflect.get(service, name)
  if (typeof method !== 'function') throw new TypeError(`The service has no method ${name}`)
  return Reflect.apply(method, service, args)
}

const alone = (result: unknown): unknown =>
  result instanceof Promise
    ? result.catch((thrown: unknown) => {
        if (isAgentprotoError(thrown) && thrown.code === 'session_not_found') throw notJoined()
        throw thrown
      })
    : result

const notJoined = (): Error =>
  unreachable('another host', 'The session is not of this host, which has not joined its fleet yet')
