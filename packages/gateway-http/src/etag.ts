import { hash } from 'node:crypto'
import type { HttpContext } from './http-deps.js'
import { jsonText } from './reply.js'

/**
 * A JSON answer with its `ETag`: who has it already (`If-None-Match`) gets 304 and no body. Nobody else keeps it, so
 * that the tag is for callers that ask again by themselves.
 */
export function taggedJson(c: HttpContext, body: unknown): Response {
  const text = JSON.stringify(body)
  const etag = tagOf(text)
  const known = c.req.header('if-none-match')
  if (known !== undefined && names(known, etag)) {
    return new Response(null, { status: 304, headers: { etag, 'cache-control': 'no-store' } })
  }
  return jsonText(text, 200, { etag })
}

/** Whoever polls is told the same again and again: the tags of a few short texts are kept, a quarter of a megabyte at most. */
const TAGS = new Map<string, string>()
const TAGS_MAX = 32
const TEXT_MAX = 4_096

function tagOf(text: string): string {
  if (text.length > TEXT_MAX) return digestOf(text)
  const known = TAGS.get(text)
  if (known !== undefined) return known
  const tag = digestOf(text)
  const [oldest] = TAGS.keys()
  if (TAGS.size >= TAGS_MAX && oldest !== undefined) TAGS.delete(oldest)
  TAGS.set(text, tag)
  return tag
}

/** Of all digests the cheapest for texts of this size, and cheaper than any loop over them. */
const digestOf = (text: string): string => `"${hash('sha1', text, 'base64url')}"`

/** RFC 9110 §13.1.2: compared weakly. */
const names = (header: string, etag: string): boolean =>
  header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
