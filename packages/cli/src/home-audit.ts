import { warn, type CliContext } from './cli-context.js'

/** Changes the home without a gateway, and records the change in the home's audit log. */
export async function withAudit<T>(
  context: CliContext,
  entry: { readonly action: string; readonly [detail: string]: unknown },
  change: () => Promise<T>,
): Promise<T> {
  const { auditOffline } = await import('@agentproto/server/audit')
  return auditOffline({ env: context.env, onProblem: (problem) => warn(context, problem) }, entry, change)
}
