import type { DoctorCheck } from '@agentproto/contracts'
import { eventStream } from '../event-stream.js'
import type { Examination, Examining } from './examination.js'
import { liveChecks } from './live-checks.js'
import { staticChecks } from './static-checks.js'

/**
 * Examines an adapter's agent: install, version, Node, setup and login; with `live` also whether it starts, answers,
 * lets itself be interrupted and resumed, ends, and offers what its manifest declares. A finding never throws; the
 * iteration throws `cancelled` alone. Leaving it ends whatever was started.
 */
export function examineAgent({ adapter, host, request }: Examination): AsyncIterable<DoctorCheck> {
  return eventStream<DoctorCheck>(
    async (tell, signal) => {
      const examining: Examining = { adapter, host, request, tell, signal }
      const canStart = await staticChecks(examining)
      if (request.live !== true) return
      if (canStart) await liveChecks(examining)
      else
        tell({ id: 'live', title: 'Live', verdict: 'skip', detail: 'it cannot be started before the above is mended' })
    },
    { signal: request.signal },
  )
}
