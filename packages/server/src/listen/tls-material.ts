import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { AgentprotoError } from '@agentproto/contracts'

/** Certificate, key and client CA of a listener: checked before use, and read again when their files change. */
export class TlsMaterial {
  readonly #options: Partial<TlsOptions>
  readonly #onProblem: (problem: string) => void
  #seen: string

  /** Options for a TLS server. */
  readonly secure: SecureMaterial

  /**
   * @param onProblem Called for a key that others can read, a certificate that expires soon, and changed files that are invalid
   * @throws `invalid_request`, `path_invalid`, `listen_failed`, each naming its field
   */
  constructor(options: Partial<TlsOptions>, onProblem: (problem: string) => void) {
    this.#options = options
    this.#onProblem = onProblem
    this.#seen = stampOf(options)
    this.secure = readMaterial(options)
    const days = daysLeft(this.secure.cert)
    if (days < SOON_DAYS) onProblem(`${FIELD}.cert expires within ${Math.ceil(days)} days`)
    if (isOpenToOthers(options.key)) onProblem(`${FIELD}.key can be read by others: chmod 600 ${String(options.key)}`)
  }

  /**
   * The content of the files if it has changed since the last call and is valid. If only one file of a pair was replaced, the
   * old pair stays in use until the files change again.
   */
  changed(): SecureMaterial | undefined {
    const stamp = stampOf(this.#options)
    if (stamp === this.#seen) return undefined
    this.#seen = stamp
    try {
      return readMaterial(this.#options)
    } catch (thrown) {
      const why = thrown instanceof Error ? thrown.message : String(thrown)
      this.#onProblem(`the TLS files have changed and are invalid; the old ones stay in use: ${why}`)
      return undefined
    }
  }
}

/** Each field is PEM text, or the absolute path of a PEM file, which is read again when it changes. */
export interface TlsOptions {
  /** The certificate, followed by its chain. */
  readonly cert: string | Buffer
  /** The key of the certificate, without a passphrase. */
  readonly key: string | Buffer
  /** If set, clients need a certificate that one of these signed (mTLS). */
  readonly clientCa?: string | Buffer
}

interface SecureMaterial {
  readonly cert: string
  readonly key: string
  readonly ca?: string
}

const FIELD = 'listen.tls'
const SOON_DAYS = 14
type Field = keyof TlsOptions
const FIELDS: readonly Field[] = ['cert', 'key', 'clientCa']

function readMaterial(options: Partial<TlsOptions>): SecureMaterial {
  const [cert, key] = [textOf(options, 'cert'), textOf(options, 'key')]
  const leaf = certificatesIn(cert, 'cert')[0]
  if (leaf === undefined) throw refused('cert', 'contains no certificate')
  assertValidNow(leaf)
  if (!leaf.checkPrivateKey(keyIn(key))) throw refused('key', `is not the key of ${FIELD}.cert`)
  if (options.clientCa === undefined) return { cert, key }
  const ca = textOf(options, 'clientCa')
  if (certificatesIn(ca, 'clientCa').length === 0) throw refused('clientCa', 'contains no certificate')
  return { cert, key, ca }
}

function textOf(options: Partial<TlsOptions>, field: Field): string {
  const given = options[field]
  if (given === undefined)
    throw new AgentprotoError(
      'invalid_request',
      `TLS needs both a certificate and its key: ${FIELD}.${field} is missing`,
      {
        expected: '--tls-cert and --tls-key',
        data: { field: `${FIELD}.${field}` },
      },
    )
  if (!isPath(given)) return given.toString()
  try {
    return readFileSync(given, 'utf8')
  } catch (cause) {
    throw new AgentprotoError('path_invalid', `${FIELD}.${field} cannot be read`, {
      given: cause instanceof Error ? cause.message : given,
      data: { field: `${FIELD}.${field}` },
      cause,
    })
  }
}

const isPath = (given: string | Buffer | undefined): given is string =>
  typeof given === 'string' && !given.includes('-----BEGIN')

function certificatesIn(text: string, field: Field): readonly X509Certificate[] {
  try {
    return (text.match(CERTIFICATE) ?? []).map((each) => new X509Certificate(each))
  } catch (cause) {
    throw refused(field, 'contains something that is not a certificate', cause)
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

function keyIn(text: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch (cause) {
    // OpenSSL's messages differ between versions; Node's own error code says that a passphrase is needed.
    const isLocked = (cause as NodeJS.ErrnoException).code === 'ERR_MISSING_PASSPHRASE' || text.includes('ENCRYPTED')
    throw refused('key', isLocked ? 'has a passphrase; a key without one is needed' : 'contains no private key', cause)
  }
}

function assertValidNow({ validFrom, validTo }: X509Certificate): void {
  const now = Date.now()
  if (now > Date.parse(validTo)) throw refused('cert', `has expired: it was valid until ${validTo}`)
  if (now < Date.parse(validFrom)) throw refused('cert', `is not valid yet: it will be from ${validFrom}`)
}

const daysLeft = (cert: string): number => (Date.parse(new X509Certificate(cert).validTo) - Date.now()) / 86_400_000

const refused = (field: Field, what: string, cause?: unknown): AgentprotoError =>
  new AgentprotoError('listen_failed', `${FIELD}.${field} ${what}`, { data: { field: `${FIELD}.${field}` }, cause })

/** Changes when a file changes; a file that is missing for a moment has a stamp as well. */
function stampOf(options: Partial<TlsOptions>): string {
  return FIELDS.map((field) => {
    const path = options[field]
    if (!isPath(path)) return ''
    const stat = statSync(path, { throwIfNoEntry: false, bigint: true })
    return stat === undefined ? 'none' : `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`
  }).join(';')
}

/** Windows has no such permission bits. */
function isOpenToOthers(key: string | Buffer | undefined): boolean {
  return isPath(key) && process.platform !== 'win32' && (statSync(key).mode & 0o077) !== 0
}
