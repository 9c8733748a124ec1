import type { SharedServices } from './places.js'

/** The services of a host whose methods are those of `current` at the time of each call. */
export const switchedServices = (own: SharedServices, current: () => SharedServices): SharedServices => ({
  sessions: switched(own.sessions, () => current().sessions),
  permissions: switched(own.permissions, () => current().permissions),
  archive: switched(own.archive, () => current().archive),
  usage: switched(own.usage, () => current().usage),
  worktrees: switched(own.worktrees, () => current().worktrees),
  changes: switched(own.changes, () => current().changes),
})

/** A service of a host is an object of functions. */
function switched<S extends object>(own: S, current: () => S): S {
  const methods = Object.keys(own).map((name) => [
    name,
    (...args: unknown[]): unknown => {
      const service = current()
      const method: unknown = Reflect.get(service, name)
      if (typeof method !== 'function') throw new TypeError(`The service has no method ${name}`)
      return Reflect.apply(method, service, args)
    },
  ])
  return Object.fromEntries(methods) as S
}
