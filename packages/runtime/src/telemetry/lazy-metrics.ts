import type { IntervalHistogram } from 'node:perf_hooks'
import type { SessionService } from '@agentproto/contracts'
import type { HttpDeps } from '@agentproto/gateway-http'
import { type Meter, takeCensus } from './meter.js'
import { version } from '../version.js'

/**
 * What `/metrics` answers; how it is written is loaded when it is first asked for, and from then on the event loop's
 * delay is measured.
 */
export function lazyMetrics(sessions: Pick<SessionService, 'list'>, meter: Meter): NonNullable<HttpDeps['metrics']> {
  let delays: IntervalHistogram | undefined
  return async (streams) => {
    const [{ metricsText }, { monitorEventLoopDelay }] = await Promise.all([
      import('./metrics-text.js'),
      import('node:perf_hooks'),
    ])
    const worst = delays === undefined || delays.count === 0 ? 0 : delays.max / 1e9
    delays ??= monitorEventLoopDelay({ resolution: 20 })
    delays.enable()
    delays.reset()
    const { user, system } = process.cpuUsage()
    return metricsText({
      meter,
      census: await takeCensus(sessions),
      streams,
      version,
      rssBytes: process.memoryUsage.rss(),
      uptimeSeconds: process.uptime(),
      cpuSeconds: (user + system) / 1e6,
      loopLagSeconds: worst,
    })
  }
}
