import { readFileSync } from 'node:fs'
import { AgentprotoError } from '@agentproto/contracts'
import type { CliContext } from './cli-context.js'
import { explained } from './explained.js'

/** Reads the files that the environment names. @throws `path_invalid` */
export function clientTls({ env }: Pick<CliContext, 'env'>): ClientTls {
  const files = Object.entries(VARIABLES).flatMap(([part, name]) => {
    const path = env[name]
    return path ? [[part, read(path, name)]] : []
  })
  return Object.fromEntries(files)
}

const VARIABLES = { ca: 'AGENTPROTO_TLS_CA', cert: 'AGENTPROTO_TLS_CERT', key: 'AGENTPROTO_TLS_KEY' } as const

/** The TLS options of a client, in PEM. */
export type ClientTls = { readonly [Part in keyof typeof VARIABLES]?: string }

function read(path: string, name: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new AgentprotoError('path_invalid', `The file of ${name} cannot be read`, { given: path, cause })
  }
}

/** Rethrows a TLS failure with what to do about it, and any other error as it is. */
export function explainTlsFailure(url: string, thrown: unknown): never {
  const { code, message } = thrown as NodeJS.ErrnoException
  const { origin } = new URL(url)
  const details = { given: message, cause: thrown }
  if (code !== undefined && UNTRUSTED.test(code))
    throw new AgentprotoError('unauthorized', `The certificate of ${origin} is not trusted`, {
      ...details,
      hint: 'Set AGENTPROTO_TLS_CA to the certificate of its CA, and use a host name that the certificate contains',
    })
  if (code !== undefined && WANTS_CERTIFICATE.test(code))
    throw new AgentprotoError('unauthorized', `${origin} requires a client certificate`, {
      ...details,
      hint: 'Set AGENTPROTO_TLS_CERT and AGENTPROTO_TLS_KEY to one that it accepts',
    })
  // OpenSSL's words for an answer that is not TLS; its own message has a line break and names its source files.
  if (/wrong version number|packet length too long/.test(message))
    throw explained(
      new AgentprotoError('daemon_not_running', `${origin} does not speak TLS`, {
        cause: thrown,
        hint: `Check the port; a gateway without TLS has http:// in its address: ${origin.replace('https', 'http')}`,
      }),
    )
  throw thrown
}

const UNTRUSTED = /SELF_SIGNED|UNABLE_TO|CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|ALTNAME_INVALID|CERT_UNTRUSTED/
const WANTS_CERTIFICATE =
  /ALERT_(?:CERTIFICATE_REQUIRED|UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_EXPIRED|HANDSHAKE_FAILURE)/
