import type { HttpContext, HttpDeps } from '../http-deps.js'
import { abortAnswer } from '../rejection.js'
import type { Handlers } from '../route.js'
import { textBody } from '../streams/text-body.js'
import { leaving, untilTokenEnds } from '../token-end.js'

/** What sessions changed in their folders. */
export function changeHandlers(deps: HttpDeps) {
  const { changes } = deps as Required<HttpDeps>
  return {
    'GET /sessions/:id/changes': ({ c, params, query }) =>
      untilTokenEnds(deps, c, (ended) => changes.list(params.id, query, leaving(c, ended))),
    'GET /sessions/:id/changes/diff': async ({ c, params, query }) =>
      patchOf(deps, c, await untilTokenEnds(deps, c, (ended) => changes.diff(params.id, query, leaving(c, ended)))),
    'POST /sessions/:id/changes/reviewed': ({ params, body, by }) => changes.markReviewed(params.id, body, by),
    // A client that disconnects does not leave half of the files set back.
    'POST /sessions/:id/rewind': ({ params, body, by }) => changes.rewind(params.id, body, by),
  } satisfies Partial<Handlers>
}

/** The files of a folder are in no known encoding, and a browser must not guess at their type. */
const HEADERS = { 'content-type': 'text/x-diff', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

async function patchOf(
  { onError, revoked }: HttpDeps,
  c: HttpContext,
  pieces: AsyncIterable<Uint8Array>,
): Promise<Response> {
  function onFailure(thrown: unknown): Error | undefined {
    onError?.(thrown, { method: c.req.method, path: c.req.path })
    return abortAnswer(c, thrown)
  }
  return new Response(
    c.req.method === 'HEAD' ? null : await textBody(pieces, { onFailure, ended: revoked?.(c.get('by')) }),
    { headers: HEADERS },
  )
}
