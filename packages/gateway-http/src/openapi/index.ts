// The OpenAPI document of the gateway. It is an entry point of its own because it needs all of zod, and most gateways
// are never asked for it.
export { openApiDocument } from './document.js'
export type { OpenApiOptions, OpenApiSchemas } from './document.js'
