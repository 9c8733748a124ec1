import type { RequestListener, Server } from 'node:http'
import { createServer, type ServerOptions } from 'node:https'
import { TlsMaterial, type TlsOptions } from './tls-material.js'

export interface TlsServing {
  readonly tls: Partial<TlsOptions>
  readonly limits: ServerOptions
  readonly onProblem: (problem: string) => void
}

/** An https server. When the certificate's files are replaced, the next connection gets the new certificate. */
export function createTlsServer({ tls, limits, onProblem }: TlsServing, listener: RequestListener): Server {
  const material = new TlsMaterial(tls, onProblem)
  const { secure } = material
  const asks = secure.ca === undefined ? {} : { requestCert: true, rejectUnauthorized: true }
  const server = createServer({ ...limits, ...secure, ...asks }, listener)
  // Before Node's own listener, which opens this connection with the context that is set then.
  server.prependListener('connection', function useChangedFiles() {
    const changed = material.changed()
    if (changed !== undefined) server.setSecureContext(changed)
  })
  return server
}
