import type { DoctorCheck } from '@agentproto/contracts/wire'
import { eventStream } from '../event-stream.js'
import type { Examination, RunningExamination } from './examination.js'
import { liveChecks } from './live-checks.js'
import { staticChecks } from './static-checks.js'

/**
 * Examines an adapter's agent: install, version, Node, setup and login; with `live` also whether it starts, answers, can be
 * interrupted and resumed, ends, and offers what its manifest declares. A finding never throws; the iteration throws only
 * `cancelled`. Leaving the iteration ends what was started.
 */
export function examineAgent({ adapter, host, request }: Examination): AsyncIterable<DoctorCheck> {
  return eventStream<DoctorCheck>(
    async (report, signal) => {
      const examination: RunningExamination = { adapter, host, request, report, signal }
      const canStart = await staticChecks(examination)
      if (request.live !== true) return
      if (canStart) await liveChecks(examination)
      else report({ id: 'live', title: 'Live', verdict: 'skip', detail: 'fix the failures above first' })
    },
    { signal: request.signal },
  )
}
