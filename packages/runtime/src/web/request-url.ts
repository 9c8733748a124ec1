import type { IncomingMessage } from 'node:http'

/**
 * The URL that a request is for, as `Request` would have it: without dot segments, its odd characters encoded.
 * @returns undefined for what names no URL
 */
export function requestUrl({ url = '', headers, socket }: IncomingMessage): string | undefined {
  const { host = '' } = headers
  if (!PLAIN_HOST.test(host) || !PLAIN_TARGET.test(url) || DOT_SEGMENT.test(url)) return parsed(url, host, socket)
  return `${schemeOf(socket)}://${host}${url}`
}

const PLAIN_HOST = /^(?:[a-z0-9._-]+|\[::1\])(?::\d{1,5})?$/
const PLAIN_TARGET = /^\/[!#$&-;=?-[\]_a-z~]*$/
const DOT_SEGMENT = /\/\.\.?(?:[/?#]|$)/
/** It would become a slash, and the path another one. */
const BACKSLASH = /^[^?]*\\/

function parsed(target: string, host: string, socket: IncomingMessage['socket']): string | undefined {
  if (BACKSLASH.test(target) || /[/?#@\\]/.test(host) || host === '') return undefined
  const whole = target.startsWith('/') ? `${schemeOf(socket)}://${host}${target}` : target
  return /^https?:\/\//.test(whole) && URL.canParse(whole) ? new URL(whole).href : undefined
}

const schemeOf = (socket: IncomingMessage['socket']): string => ('encrypted' in socket ? 'https' : 'http')
