import type { AdapterSessionPolicy } from '@agentproto/contracts'
import type { AgentCliManifest } from '@agentproto/manifest'
import { launchHints } from './launch-hints.js'
import { resumesByFlags } from './native-resume.js'

/** What a host has to know of a manifest's sessions: how long they last, and how they are taken up again. */
export function sessionPolicy(manifest: AgentCliManifest): AdapterSessionPolicy {
  const { mode, idleTimeoutMs, maxTurns } = manifest.session
  const { resumeAfterMs } = launchHints(manifest)
  return {
    mode,
    ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMs }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(manifest.continuation === undefined ? {} : { continuation: manifest.continuation.supported }),
    ...(resumesByFlags(manifest) ? { resumesByFlags: true } : {}),
    ...(resumeAfterMs === 0 ? {} : { resumeAfterMs }),
  }
}
