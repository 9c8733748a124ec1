import { hash } from 'node:crypto'
import type { HttpContext } from './http-deps.js'
import { jsonText } from './reply.js'

/**
 * A JSON answer with its `ETag`: who has it already (`If-None-Match`) gets 304 and no body. Nobody else keeps it, so
 * that the tag is for callers that ask again by themselves.
 */
export function taggedJson(c: HttpContext, body: unknown): Response {
  const text = JSON.stringify(body)
  // Of all digests the cheapest for texts of this size, and cheaper than any loop over them.
  const etag = `"${hash('sha1', text, 'base64url')}"`
  const known = c.req.header('if-none-match')
  if (known !== undefined && names(known, etag)) {
    return new Response(null, { status: 304, headers: { etag, 'cache-control': 'no-store' } })
  }
  return jsonText(text, 200, { etag })
}

/** RFC 9110 §13.1.2: compared weakly. */
const names = (header: string, etag: string): boolean =>
  header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
