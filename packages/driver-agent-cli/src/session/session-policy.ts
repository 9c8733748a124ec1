import { defined, PERMISSION_MODES, type PermissionMode } from '@agentproto/contracts'
import type { AdapterSessionPolicy } from '@agentproto/contracts/agent'
import type { AgentCliManifest } from '@agentproto/manifest'
import { launchHints } from '../launch/launch-hints.js'
import { manifestHint, member, textsOf } from '../launch/manifest-hint.js'
import { resumesByFlags } from '../launch/native-resume.js'

/** What a host needs to know of a manifest's sessions: how long they last, and how they are resumed. */
export function sessionPolicy(manifest: AgentCliManifest): AdapterSessionPolicy {
  const { mode, idleTimeoutMs, maxTurns } = manifest.session
  const { resumeAfterMs } = launchHints(manifest)
  return {
    mode,
    ...defined({ idleTimeoutMs, maxTurns, continuation: manifest.continuation?.supported }),
    ...(resumesByFlags(manifest) ? { resumesByFlags: true } : {}),
    ...(resumeAfterMs === 0 ? {} : { resumeAfterMs }),
    ...(manifestHint(manifest, 'envelope') === true ? { envelope: true } : {}),
    ...permissionModes(manifest),
  }
}

/** `metadata.agentproto.permission_modes`: one of the agent's own modes, or several, by permission mode. */
function permissionModes(manifest: AgentCliManifest): Pick<AdapterSessionPolicy, 'permissionModes'> {
  const stated = manifestHint(manifest, 'permission_modes')
  const known = PERMISSION_MODES.flatMap((mode): [PermissionMode, readonly string[]][] => {
    const ids = textsOf(member(stated, mode))
    return ids.length === 0 ? [] : [[mode, ids]]
  })
  return known.length === 0 ? {} : { permissionModes: Object.fromEntries(known) }
}
