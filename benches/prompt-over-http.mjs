// A prompt and its whole turn over HTTP (`wait`), in a fresh gateway, a warm one, and an embedder's. The ratio is to the least
// that a gateway can be, which is measured first, in the same way.
import { startDaemon, startEmbedded, startSession } from './gateway.mjs'
import { startLeastGateway } from './least-gateway.mjs'
import { median, timeEach } from './measure.mjs'
import { ms, row } from './table.mjs'

const FRESH = 500

export async function promptOverHttp({ home, cwd, prompts, warmUp }) {
  const size = { prompts, warmUp }
  const bareGateway = await startLeastGateway(cwd)
  const least = await trips(() => bareGateway.http.call('POST', '/', { prompt: 'x' }), size)
  await bareGateway.stop()
  const daemon = await startDaemon(home, cwd)
  const served = await trips(await promptOf(daemon.http, cwd), size)
  const bare = await timeEach(500, 100, () => daemon.http.call('GET', '/health'))
  await daemon.stop()
  const embedded = await startEmbedded(`${home}-embedded`, cwd)
  const own = await trips(await promptOf(embedded.http, cwd), size)
  await embedded.stop()
  const fresh = { most: 0.7, unit: ms, of: least.fresh }
  const warm = { most: 0.35, unit: ms, of: least.warm }
  return [
    row(`the least gateway: prompt over HTTP, first ${FRESH}, p50`, least.fresh, { unit: ms }),
    row('the least gateway: prompt over HTTP, warm, p50', least.warm, { unit: ms }),
    row(`prompt over HTTP, first ${FRESH} of a fresh gateway, p50`, served.fresh, fresh),
    row('prompt over HTTP, warm, p50', served.warm, warm),
    row('  of which a bare GET /health', median(bare), { unit: ms }),
    row(`prompt over HTTP, embedded without flags, first ${FRESH}, p50`, own.fresh, fresh),
    row('prompt over HTTP, embedded without flags, warm, p50', own.warm, warm),
  ]
}

async function promptOf(http, cwd) {
  const id = await startSession(http, cwd)
  return () => http.call('POST', `/sessions/${id}/prompt`, { prompt: 'x', wait: true })
}

async function trips(once, { prompts, warmUp }) {
  const fresh = median(await timeEach(FRESH, 0, once))
  return { fresh, warm: median(await timeEach(prompts, warmUp, once)) }
}
