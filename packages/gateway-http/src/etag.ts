import type { HttpContext } from './http-deps.js'
import { jsonText } from './reply.js'

/**
 * A JSON answer with its `ETag`: who has it already (`If-None-Match`) gets 304 and no body. Nobody else keeps it, so
 * that the tag is for callers that ask again by themselves.
 */
export function taggedJson(c: HttpContext, body: unknown): Response {
  const text = JSON.stringify(body)
  const etag = `"${digest(text)}"`
  const known = c.req.header('if-none-match')
  if (known !== undefined && names(known, etag)) {
    return new Response(null, { status: 304, headers: { etag, 'cache-control': 'no-store' } })
  }
  return jsonText(text, 200, { etag })
}

/** RFC 9110 §13.1.2: compared weakly. */
const names = (header: string, etag: string): boolean =>
  header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)

/**
 * 53 bits over the characters, and their number: cheap enough for every read. It tells changes of one resource
 * apart; nothing relies on nobody being able to forge it.
 */
function digest(text: string): string {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    high = Math.imul(high ^ unit, 2_654_435_761)
    low = Math.imul(low ^ unit, 1_597_334_677)
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909)
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909)
  return (4_294_967_296 * (2_097_151 & low) + (high >>> 0)).toString(36) + text.length.toString(36)
}
