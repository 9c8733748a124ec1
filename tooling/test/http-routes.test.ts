import { systemClock } from '@agentproto/contracts'
import { createHttpApp } from '@agentproto/gateway-http'
import type { HttpDeps } from '@agentproto/gateway-http'
import { expect, test } from 'vitest'
import { codeRows, page } from '../markdown.ts'
import { ROOT } from '../packages.ts'

/** Asked for its routes only: no service is ever called. */
const idle = {
  clock: systemClock,
  version: '0.0.0',
  authenticate: () => undefined,
  tokens: {},
  mcp: () => Promise.resolve(new Response()),
} as unknown as HttpDeps

test('docs/http-api.md has every route of the gateway, and no other', () => {
  const { routes } = createHttpApp(idle)
  // A resource registers its other methods as ALL, to refuse them; only a path that has no methods of its own is ALL.
  const owned = new Set(routes.filter(({ method }) => method !== 'ALL').map(({ path }) => path))
  const served = routes
    .filter(({ method, path }) => !path.endsWith('/*') && (method !== 'ALL' || !owned.has(path)))
    // They are the routes of /sessions/:id, one for one; a test of the gateway's compares them.
    .filter(({ path }) => !path.startsWith('/agents/:agent/sessions/:id'))
    .map(({ method, path }) => `${method} ${path}`)
  const documented = codeRows(page(ROOT, 'docs/http-api.md'))
    .map(([route = '']) => route)
    .filter((route) => /^[A-Z]+ \//.test(route))
  expect(documented.toSorted()).toEqual([...new Set(served)].toSorted())
})
