import { AgentprotoError } from '@agentproto/contracts'
import type { ExportFormat, SessionArchive } from '@agentproto/contracts/wire'
import type { HttpContext, HttpDeps } from '../http-deps.js'
import { assertNotEncoded } from '../json-body.js'
import { abortAnswer } from '../rejection.js'
import type { Handlers } from '../route.js'
import { textBody } from '../streams/text-body.js'
import { leaving, untilTokenEnds } from '../token-end.js'

/** Stored sessions as documents, and what they used. */
export function archiveHandlers(deps: HttpDeps) {
  const { archive, usage } = deps as Required<HttpDeps>
  return {
    'GET /search': ({ c, query, within }) =>
      untilTokenEnds(deps, c, (ended) => archive.search(query, within, leaving(c, ended))),
    'GET /usage': ({ query, within }) => usage.report(query, within),
    'POST /sessions/import': ({ c, by }) => archive.import(exportBody(c).pipeThrough(new TextDecoderStream()), by),
    'POST /sessions/prune': ({ body, by }) => archive.prune(body, by),
    'GET /sessions/:id/export': ({ c, params: { id }, query: { format = 'jsonl' } }) =>
      documentOf(deps, { c, id, format, attachment: `${id}.${format}` }),
    'GET /sessions/:id/transcript'({ c, params: { id }, query }) {
      const wantsMarkdown = c.req.header('accept')?.includes('text/markdown') ?? false
      const format = query.format ?? (wantsMarkdown ? 'markdown' : 'json')
      return documentOf(deps, { c, id, format: format === 'markdown' ? 'md' : 'transcript' })
    },
    'POST /sessions/:id/repair': ({ params, query: { dryRun = false }, by }) =>
      archive.repair(params.id, { dryRun }, by),
  } satisfies Partial<Handlers>
}

const TYPES: Readonly<Record<ExportFormat, string>> = {
  md: 'text/markdown; charset=utf-8',
  json: 'application/json',
  transcript: 'application/json',
  jsonl: 'application/x-ndjson',
}

interface Document {
  readonly c: HttpContext
  readonly id: string
  readonly format: ExportFormat
  /** File name that a browser saves it as. */
  readonly attachment?: string
}

async function documentOf(deps: HttpDeps, { c, id, format, attachment }: Document): Promise<Response> {
  const { archive, onError, revoked } = deps as HttpDeps & { readonly archive: SessionArchive }
  const text = await archive.export(id, format)
  function onFailure(thrown: unknown): Error | undefined {
    onError?.(thrown, { method: c.req.method, path: c.req.path })
    return abortAnswer(c, thrown)
  }
  const headers = {
    'content-type': TYPES[format],
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(attachment === undefined ? {} : { 'content-disposition': `attachment; filename="${attachment}"` }),
  }
  // Hono drops the body of a HEAD without cancelling it, so that its source would stay open.
  return new Response(
    c.req.method === 'HEAD' ? null : await textBody(text, { onFailure, ended: revoked?.(c.get('by')) }),
    { headers },
  )
}

const EXPORT_TYPE = /^application\/(?:json|x-ndjson|jsonl)\s*(?:;|$)/i

function exportBody(c: HttpContext): ReadableStream<Uint8Array> {
  assertNotEncoded(c)
  const { body } = c.req.raw
  const given = c.req.header('content-type')
  // A page of another origin cannot send such a type without a preflight.
  if (given === undefined || !EXPORT_TYPE.test(given)) {
    const expected = 'content-type: application/x-ndjson or application/json'
    throw new AgentprotoError('unsupported_media_type', 'The body must be an exported session', { expected, given })
  }
  if (body === null)
    throw new AgentprotoError('invalid_request', 'The body is empty', { expected: 'an exported session' })
  return body
}
