// The HTTP surface of agentproto. This file is the package's contract: every export is named here.
export { createHttpApp } from './http-app.js'
export type { HttpApp, HttpDeps } from './http-deps.js'
