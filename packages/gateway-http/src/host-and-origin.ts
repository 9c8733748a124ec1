const PORT = /:\d{1,5}$/
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/**
 * Whether a Host header names this gateway.
 * @param host In lower case, with or without a port
 * @param allowed Further names in lower case: `name` for any port, `name:port` for one
 */
export function isAllowedHost(host: string, allowed: ReadonlySet<string>): boolean {
  const name = nameIn(host)
  return LOOPBACK.test(name) || allowed.has(name) || allowed.has(host)
}

/** A Host without its port. */
export const nameIn = (host: string): string => host.replace(PORT, '')

/**
 * Whether pages of an origin may call: those of this machine, of the gateway itself, and allowed ones. `null` (sandboxed
 * frames, files) is refused.
 * @param host The Host of the request, in lower case, which was checked before
 */
export function isAllowedOrigin(origin: string, host: string, allowed: ReadonlySet<string>): boolean {
  const given = origin.toLowerCase()
  const address = /^https?:\/\/([^/?#@\s]+)$/.exec(given)?.[1]
  if (allowed.has(given)) return true
  if (address === undefined) return false
  return address === host || LOOPBACK.test(nameIn(address))
}
