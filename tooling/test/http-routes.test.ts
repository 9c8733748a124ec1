import { systemClock } from '@agentproto/contracts'
import { createHttpApp } from '@agentproto/gateway-http'
import type { HttpDeps } from '@agentproto/gateway-http'
import { openApiDocument } from '@agentproto/gateway-http/openapi'
import { expect, test } from 'vitest'
import { codeRows, page } from '../markdown.ts'
import { ROOT } from '../packages.ts'

/** Asked for its routes only: no service is ever called. */
const idle = {
  sessions: {},
  adapters: {},
  workspaces: {},
  clock: systemClock,
  version: '0.0.0',
  authenticate: () => undefined,
  notifications: {},
  tokens: {},
  browsers: {},
  archive: {},
  usage: {},
  changes: {},
  mcp: () => Promise.resolve(new Response()),
  acp: {},
  metrics: () => Promise.resolve(''),
  openApi: () => Promise.resolve({}),
  permissions: {},
  worktrees: {},
  gateway: () => ({}),
  hosts: {},
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
  // Both come from the table of operations in packages/contracts/src/wire. MCP and ACP describe themselves.
  expect(documented.toSorted()).toEqual(served().filter((route) => !route.startsWith('ALL ')))
})

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: BodySchema }>> }
}
interface BodySchema {
  readonly properties?: object
  readonly anyOf?: readonly BodySchema[]
}

/** Names that a request may have: of the query, and of the body's members. */
function namesOf({ parameters = [], requestBody }: Operation): readonly string[] {
  const query = parameters.flatMap(({ name, in: where }) => (where === 'query' ? [name] : []))
  const bodies = Object.values(requestBody?.content ?? {}).map(({ schema }) => schema)
  const members = bodies.flatMap((schema) => [schema, ...(schema.anyOf ?? [])])
  return [...query, ...members.flatMap(({ properties = {} }) => Object.keys(properties))]
}

test('docs/http-api.md names everything that a route takes', () => {
  // An escaped bar does not end a cell.
  const text = page(ROOT, 'docs/http-api.md').replaceAll('\\|', '/')
  const rows = new Map(codeRows(text).map(([route = '', takes = '']) => [route, takes]))
  const fields = new Set([...text.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, cell = '']) => cell.match(/\w+/g) ?? []))
  const { paths } = openApiDocument({ version: '0.0.0', schemas: { session: {}, event: {} } })
  const undocumented = Object.entries(paths as Record<string, Record<string, Operation>>).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) => {
      const route = `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`
      const takes = rows.get(route) ?? ''
      // Some rows refer to another one, and that of a start to a table of its fields.
      const isReferred = /\bthe (?:same|query of|body of)\b/.test(takes)
      const isNamed = (name: string): boolean => new RegExp(`\\b${name}\\b`).test(takes)
      const isKnown = route === 'POST /sessions/agent' ? (name: string) => fields.has(name) : isNamed
      return isReferred && isKnown === isNamed
        ? []
        : namesOf(operation).flatMap((name) => (isKnown(name) ? [] : [`${route} ${name}`]))
    }),
  )
  expect(undocumented).toEqual([])
})
