import { defined } from '@agentproto/contracts'
import type { AdapterState, DoctorCheck } from '@agentproto/contracts/wire'
import { endpointSecrets } from '@agentproto/driver-agent-cli/installation'
import { type AgentCliManifest, remoteAddress } from '@agentproto/manifest'
import { endpointChecks } from './endpoint-checks.js'
import type { RunningExamination } from './examination.js'

/** What can be found out of an agent that runs elsewhere without a session. */
export async function remoteChecks(
  examination: RunningExamination,
  state: AdapterState,
): Promise<readonly DoctorCheck[]> {
  const { manifest } = examination.adapter
  const installed = `it runs elsewhere: ${remoteAddress(manifest) ?? ''}`
  const missing = secretCheck(manifest, state)
  const endpoint = manifest.protocol === 'acp' ? manifest.endpoint : undefined
  return [
    { id: 'install', title: 'Installed', verdict: 'ok', detail: installed },
    ...(missing === undefined ? [] : [missing]),
    ...(endpoint === undefined || missing !== undefined ? [] : await endpointChecks(endpoint, examination)),
  ]
}

/** Nothing is connected to without what its headers need. */
function secretCheck(manifest: AgentCliManifest, { secrets }: AdapterState): DoctorCheck | undefined {
  const unset = endpointSecrets(manifest).filter(
    (slug) => !secrets.some((secret) => secret.slug === slug && secret.set),
  )
  const [first] = unset
  if (first === undefined) return undefined
  const base = { id: 'endpoint.secrets', title: 'Secrets of its headers' }
  const hint = `agentproto secrets set ${first}`
  return { ...base, verdict: 'fail', detail: `not set: ${unset.join(', ')}`, ...defined({ hint }) }
}
