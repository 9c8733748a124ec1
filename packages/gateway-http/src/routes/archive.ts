import {
  AgentprotoError,
  exportQuerySchema,
  parseWire,
  pruneRequestSchema,
  repairQuerySchema,
  searchQuerySchema,
  transcriptQuerySchema,
} from '@agentproto/contracts'
import type { ExportFormat, SessionArchive } from '@agentproto/contracts'
import { Hono } from 'hono'
import { callerOf } from '../caller.js'
import type { HttpApp, HttpContext, HttpDeps, HttpEnv } from '../http-deps.js'
import { readBody } from '../json-body.js'
import { json } from '../reply.js'
import { param, resource } from '../resource.js'
import { textBody, textOf } from '../text-body.js'
import { created } from './session-collection.js'

/** `/sessions/import` and `/sessions/prune`. */
export function archiveRoutes(archive: SessionArchive): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()
  resource(app, '/import', {
    POST: async (c) => created(await archive.import(textOf(exportBody(c)), callerOf(c))),
  })
  resource(app, '/prune', {
    POST: async (c) => json(await archive.prune(await readBody(c, pruneRequestSchema), callerOf(c))),
  })
  return app
}

/** `/search`. */
export function searchRoutes(archive: SessionArchive): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()
  resource(app, '/', {
    GET: async (c) => {
      const query = parseWire(searchQuerySchema, c.req.query(), 'query')
      return json(await archive.search(query, c.get('within'), c.req.raw.signal))
    },
  })
  return app
}

/** `/sessions/:id/export`, `/transcript` and `/repair`. */
export function sessionArchiveRoutes({ archive }: HttpDeps): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()
  if (archive === undefined) return app

  async function answer(c: HttpContext, format: ExportFormat, name?: string): Promise<Response> {
    const id = param(c, 'id')
    const text = await archive?.export(id, format)
    const headers = {
      'content-type': TYPES[format],
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...(name === undefined ? {} : { 'content-disposition': `attachment; filename="${id}.${name}"` }),
    }
    if (text === undefined || c.req.method === 'HEAD') return new Response(null, { headers })
    return new Response(await textBody(text), { headers })
  }

  resource(app, '/:id/export', {
    GET: (c) => {
      const { format = 'jsonl' } = parseWire(exportQuerySchema, c.req.query(), 'query')
      return answer(c, format, format)
    },
  })
  resource(app, '/:id/transcript', {
    GET: (c) => {
      const { format = wantsMarkdown(c) ? 'markdown' : 'json' } = parseWire(
        transcriptQuerySchema,
        c.req.query(),
        'query',
      )
      return answer(c, format === 'markdown' ? 'md' : 'transcript')
    },
  })
  resource(app, '/:id/repair', {
    POST: async (c) => {
      const { dryRun = false } = parseWire(repairQuerySchema, c.req.query(), 'query')
      return json(await archive.repair(param(c, 'id'), { dryRun }, callerOf(c)))
    },
  })
  return app
}

const TYPES: Readonly<Record<ExportFormat, string>> = {
  md: 'text/markdown; charset=utf-8',
  json: 'application/json',
  transcript: 'application/json',
  jsonl: 'application/x-ndjson',
}

const wantsMarkdown = (c: HttpContext): boolean => c.req.header('accept')?.includes('text/markdown') ?? false

const EXPORT_TYPE = /^application\/(?:json|x-ndjson|jsonl)\s*(?:;|$)/i

function exportBody(c: HttpContext): ReadableStream<Uint8Array> {
  const { body } = c.req.raw
  const given = c.req.header('content-type')
  // A page of another origin can send no such type without being asked first.
  if (given === undefined || !EXPORT_TYPE.test(given)) {
    const expected = 'content-type: application/x-ndjson or application/json'
    throw new AgentprotoError('unsupported_media_type', 'The body must be an export', { expected, given })
  }
  if (body === null) throw new AgentprotoError('invalid_request', 'The body is empty', { expected: 'an export' })
  return body
}
