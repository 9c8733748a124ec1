import { readFileSync } from 'node:fs'
import { AgentprotoError } from '@agentproto/contracts'
import type { Io } from './io.js'

/** Whom a client trusts and what it shows, in PEM. */
export interface ClientTls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** The files that the environment names. @throws `path_invalid` */
export function clientTls({ env }: Pick<Io, 'env'>): ClientTls {
  const named = Object.entries(VARIABLES).flatMap(([part, name]) => {
    const path = env[name]
    return path ? [[part, textOf(path, name)]] : []
  })
  return Object.fromEntries(named)
}

const VARIABLES = { ca: 'AGENTPROTO_TLS_CA', cert: 'AGENTPROTO_TLS_CERT', key: 'AGENTPROTO_TLS_KEY' } as const

function textOf(path: string, name: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new AgentprotoError('path_invalid', `The file of ${name} cannot be read`, { given: path, cause })
  }
}

/** Throws what kept TLS from working as something to act on; anything else as it is. */
export function tellTls(url: string, thrown: unknown): never {
  const { code, message } = thrown as NodeJS.ErrnoException
  const { origin } = new URL(url)
  const about = { given: message, cause: thrown }
  if (code !== undefined && UNTRUSTED.test(code))
    throw new AgentprotoError('unauthorized', `The certificate of ${origin} cannot be trusted`, {
      ...about,
      hint: 'Name the certificate of who signed it in AGENTPROTO_TLS_CA, and call it by a name that it is for',
    })
  if (code !== undefined && WANTS_CERTIFICATE.test(code))
    throw new AgentprotoError('unauthorized', `${origin} asks for a certificate that it knows`, {
      ...about,
      hint: 'Name one and its key in AGENTPROTO_TLS_CERT and AGENTPROTO_TLS_KEY',
    })
  throw thrown
}

const UNTRUSTED = /SELF_SIGNED|UNABLE_TO|CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|ALTNAME_INVALID|CERT_UNTRUSTED/
const WANTS_CERTIFICATE =
  /ALERT_(?:CERTIFICATE_REQUIRED|UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_EXPIRED|HANDSHAKE_FAILURE)/
