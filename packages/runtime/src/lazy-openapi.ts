import { version } from './version.js'

/** The OpenAPI document, made at its first request: most gateways are never asked for it, and it needs all of zod. */
export function lazyOpenApi(): () => Promise<object> {
  let document: Promise<object> | undefined
  return () => (document ??= makeDocument())
}

async function makeDocument(): Promise<object> {
  const [{ openApiDocument }, { default: session }, { default: event }] = await Promise.all([
    import('@agentproto/gateway-http/openapi'),
    import('@agentproto/manifest/schemas/session.schema.json', { with: { type: 'json' } }),
    import('@agentproto/manifest/schemas/stream-event.schema.json', { with: { type: 'json' } }),
  ])
  return openApiDocument({ version, schemas: { session, event } })
}
