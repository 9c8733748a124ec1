import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import { isIPv4 } from 'node:net'

/** Certificates for tests, encoded here (RFC 5280): this needs no program, and they can be expired or of any CA. */
export interface Issued {
  /** In PEM. */
  readonly cert: string
  /** In PEM. */
  readonly key: string
}

export interface Authority extends Issued {
  issue(subject: Subject): Issued
}

export interface Subject {
  readonly name: string
  /** Names and IPv4 addresses of the certificate. */
  readonly hosts?: readonly string[]
  /** Days from now; negative in the past. Default: yesterday to next year. */
  readonly from?: number
  readonly to?: number
}

/** A certificate authority that only clients with its certificate trust. */
export function newAuthority(name = 'Test CA'): Authority {
  const keys = newKeys()
  const issuer: Issuer = { name, key: keys.privateKey }
  return {
    ...pem(certificate({ name, publicKey: keys.publicKey, issuer, isAuthority: true }), keys.privateKey),
    issue(subject) {
      const own = newKeys()
      return pem(certificate({ ...subject, publicKey: own.publicKey, issuer }), own.privateKey)
    },
  }
}

interface Issuer {
  readonly name: string
  readonly key: KeyObject
}

interface Certified extends Subject {
  readonly publicKey: KeyObject
  readonly issuer: Issuer
  readonly isAuthority?: boolean
}

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' })

function certificate({ name, publicKey, issuer, ...about }: Certified): Buffer {
  const { from = -1, to = 365 } = about
  const body = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    named(issuer.name),
    sequence(time(from), time(to)),
    named(name),
    publicKey.export({ format: 'der', type: 'spki' }),
    der(0xa3, sequence(...extensions(about))),
  )
  return sequence(body, ECDSA_SHA256, der(0x03, Buffer.from([0]), sign('sha256', body, issuer.key)))
}

function extensions({ isAuthority = false, hosts = [] }: Pick<Certified, 'isAuthority' | 'hosts'>): Buffer[] {
  const basic = extension('551d13', true, sequence(...(isAuthority ? [der(0x01, Buffer.from([0xff]))] : [])))
  const names = hosts.map((host) =>
    isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host)),
  )
  return names.length === 0 ? [basic] : [basic, extension('551d11', false, sequence(...names))]
}

const extension = (id: string, isCritical: boolean, value: Buffer): Buffer =>
  sequence(der(0x06, Buffer.from(id, 'hex')), ...(isCritical ? [der(0x01, Buffer.from([0xff]))] : []), der(0x04, value))

/** A name with only a common name. */
const named = (name: string): Buffer =>
  sequence(der(0x31, sequence(der(0x06, Buffer.from('550403', 'hex')), der(0x0c, Buffer.from(name)))))

function time(days: number): Buffer {
  const at = new Date(Date.now() + days * 86_400_000)
  // UTCTime: the year in two digits.
  return der(0x17, Buffer.from(`${at.toISOString().slice(2, 19).replace(/[-:T]/g, '')}Z`))
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts)
const integer = (value: Buffer): Buffer => der(0x02, value)

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const { length } = body
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), body])
}

const ECDSA_SHA256 = sequence(der(0x06, Buffer.from('2a8648ce3d040302', 'hex')))

const pem = (cert: Buffer, key: KeyObject): Issued => ({
  cert: `-----BEGIN CERTIFICATE-----\n${(cert.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`,
  key: key.export({ format: 'pem', type: 'pkcs8' }).toString(),
})
