import type { ConsoleFile, ConsoleFiles } from '@agentproto/contracts/wire'
import type { HttpApp, HttpContext } from './http-deps.js'

/**
 * Adds the web console at `/console/`. Its files are the same for everybody and hold no data, so that they need no token: the
 * page asks for a login, and its script calls the routes with the browser's cookie.
 */
export function addConsole(app: HttpApp, files: ConsoleFiles): void {
  // The router leaves out a slash at the end; the address that the browser has does not.
  app.get('/console', (c) => (new URL(c.req.url).pathname.endsWith('/') ? answer(c, files, '') : redirect('console/')))
  app.get('/console/*', (c) => answer(c, files, c.req.path.slice(c.req.path.indexOf('/console/') + '/console/'.length)))
}

async function answer(c: HttpContext, files: ConsoleFiles, path: string): Promise<Response> {
  const file = await files(path)
  if (file === undefined) return c.notFound()
  const isZipped = file.gzipped !== undefined && /\bgzip\b/.test(c.req.header('accept-encoding') ?? '')
  return new Response(isZipped ? file.gzipped : file.bytes, { headers: headersOf(file, isZipped) })
}

const headersOf = ({ type, isHashed }: ConsoleFile, isZipped: boolean): Record<string, string> => ({
  'content-type': type,
  ...(isZipped ? { 'content-encoding': 'gzip' } : {}),
  vary: 'accept-encoding',
  'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
  ...SAFETY,
})

/**
 * Nothing from elsewhere, nothing inline, in no frame: what an agent wrote could only be shown, never run, even if the page
 * failed to clean it. `blob:` and `data:` are for images of prompts and of tools, which the page has as bytes.
 */
const POLICY = [
  "default-src 'self'",
  "img-src 'self' blob: data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const SAFETY = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
}

/** Relative, so that it is right below any path prefix. */
const redirect = (location: string): Response => new Response(null, { status: 308, headers: { location } })
