import type { ClusterFindings } from '@agentproto/fleet'
import type { GatewayOptions } from './gateway-options.js'
import { settingsOf } from './settings.js'

export interface ExaminedFleet extends ClusterFindings {
  /** Name of this host. */
  readonly host: string
}

/**
 * What a gateway with these options would find of its fleet; undefined where it belongs to none. It changes nothing.
 * @throws `path_invalid`, `invalid_request`, `cluster_unavailable`, `cluster_unsupported`
 */
export async function examineFleet(
  options: Pick<GatewayOptions, 'home' | 'env' | 'cluster'>,
): Promise<ExaminedFleet | undefined> {
  const { fleet, clock } = await settingsOf(options)
  if (fleet === undefined) return undefined
  const { examineCluster } = await import('@agentproto/fleet')
  const findings = await examineCluster({ ...fleet, clock, onProblem: () => undefined })
  return { ...findings, host: fleet.host }
}
