// A prompt and its whole turn over HTTP (`wait`), in a fresh gateway, a warm one, and an embedder's.
import { startDaemon, startEmbedded, startSession } from './gateway.mjs'
import { median, timeEach } from './measure.mjs'
import { ms, row } from './table.mjs'

const FRESH = 500

export async function promptOverHttp({ home, cwd, prompts, warmUp, raw }) {
  const daemon = await startDaemon(home, cwd)
  const served = await trips(daemon.http, { cwd, prompts, warmUp })
  const bare = await timeEach(500, 100, () => daemon.http.call('GET', '/health'))
  await daemon.stop()
  const embedded = await startEmbedded(`${home}-embedded`, cwd)
  const own = await trips(embedded.http, { cwd, prompts, warmUp })
  await embedded.stop()
  const of = raw.tripMs
  return [
    row(`prompt over HTTP, first ${FRESH} of a fresh gateway, p50`, served.fresh, { most: 0.7, unit: ms, of }),
    row('prompt over HTTP, warm, p50', served.warm, { most: 0.35, unit: ms, of }),
    row('  of which a bare GET /health', median(bare), { unit: ms }),
    row(`prompt over HTTP, embedded without flags, first ${FRESH}, p50`, own.fresh, { most: 0.7, unit: ms, of }),
    row('prompt over HTTP, embedded without flags, warm, p50', own.warm, { most: 0.35, unit: ms, of }),
  ]
}

async function trips(http, { cwd, prompts, warmUp }) {
  const id = await startSession(http, cwd)
  const once = () => http.call('POST', `/sessions/${id}/prompt`, { prompt: 'x', wait: true })
  const fresh = median(await timeEach(FRESH, 0, once))
  return { fresh, warm: median(await timeEach(prompts, warmUp, once)) }
}
