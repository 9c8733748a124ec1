import { systemClock } from '@agentproto/contracts'
import { createHttpApp } from '@agentproto/gateway-http'
import type { HttpDeps } from '@agentproto/gateway-http'
import { openApiDocument } from '@agentproto/gateway-http/openapi'
import { expect, test } from 'vitest'
import { codeRows, page } from '../markdown.ts'
import { ROOT } from '../packages.ts'

/** Asked for its routes only: no service is ever called. */
const idle = {
  clock: systemClock,
  version: '0.0.0',
  authenticate: () => undefined,
  tokens: {},
  archive: {},
  mcp: () => Promise.resolve(new Response()),
  metrics: () => Promise.resolve(''),
  openApi: () => Promise.resolve({}),
  permissions: {},
} as unknown as HttpDeps

/** `METHOD /path` of what is served, without the routes of one agent's sessions. */
function served(): string[] {
  const { routes } = createHttpApp(idle)
  // A resource registers its other methods as ALL, to refuse them; only a path that has no methods of its own is ALL.
  const owned = new Set(routes.filter(({ method }) => method !== 'ALL').map(({ path }) => path))
  const own = routes
    .filter(({ method, path }) => !path.endsWith('/*') && (method !== 'ALL' || !owned.has(path)))
    // They are the routes of /sessions/:id, one for one; a test of the gateway's compares them.
    .filter(({ path }) => !path.startsWith('/agents/:agent/sessions/:id'))
    .map(({ method, path }) => `${method} ${path}`)
  return [...new Set(own)].toSorted()
}

test('docs/http-api.md has every route of the gateway, and no other', () => {
  const documented = codeRows(page(ROOT, 'docs/http-api.md'))
    .map(([route = '']) => route)
    .filter((route) => /^[A-Z]+ \//.test(route))
  expect(documented.toSorted()).toEqual(served())
})

test('the OpenAPI document has every route of the gateway, and no other', () => {
  const { paths } = openApiDocument({ version: '0.0.0', schemas: { session: {}, event: {} } })
  const documented = Object.entries(paths as Record<string, object>).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
  )
  // A new route needs its row in packages/gateway-http/src/openapi/*-operations.ts. MCP describes itself.
  expect(documented.toSorted()).toEqual(served().filter((route) => route !== 'ALL /mcp'))
})
