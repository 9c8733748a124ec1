import { print, type Io } from './io.js'

/** Makes a change to the home that needs no gateway, and has the home's audit log say so. */
export async function noted<T>(
  io: Io,
  what: { readonly action: string; readonly [about: string]: unknown },
  work: () => Promise<T>,
): Promise<T> {
  const { auditOffline } = await import('@agentproto/server/audit')
  const onProblem = (problem: string): void => print(io.stderr, `agentproto: ${problem}`)
  return auditOffline({ env: io.env, onProblem }, what, work)
}
