import { lookup as dnsLookup } from 'node:dns'
import { request as httpRequest, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Clock } from '@agentproto/contracts'
import { Webhook as Signer } from 'standardwebhooks'
import { type AddressRules, addressProblem } from './allowed-address.js'
import { parseWebhookUrl } from './webhook-url.js'

/** How long a receiver may take to answer, in milliseconds. */
const ANSWER_MS = 10_000
/** Bytes of a secret that Standard Webhooks asks for. */
const SECRET_BYTES = { min: 24, max: 64 } as const

/** Where webhooks go, and how they are signed. */
export interface Receiver {
  readonly url: string
  readonly allowPrivate: boolean
  /** The signing secret; read for each message, so that a new one needs no restart. */
  readonly secret: () => Promise<string | undefined>
  /** Name of the secret, for messages. */
  readonly secretSlug: string
  readonly userAgent: string
  readonly clock: Clock
  /** The rule for addresses; loaded with the first message. */
  readonly loadReach: () => Promise<AddressRules['reachOf']>
}

export interface Message {
  readonly id: string
  readonly body: string
}

/** How a receiver answered, or why it did not. */
export interface Delivery {
  readonly ok: boolean
  /** Of its answer. */
  readonly status?: number
  /** How long it asks to wait, in milliseconds. */
  readonly retryAfterMs?: number
  readonly problem?: string
}

/**
 * Sends one message in the form of Standard Webhooks. A redirect is not followed; the certificate is always verified; the
 * address is checked after the name was resolved, on the connection that is used. Never rejects.
 */
export async function sendWebhook(receiver: Receiver, message: Message, signal: AbortSignal): Promise<Delivery> {
  try {
    const url = parseWebhookUrl(receiver.url)
    const headers = await headersOf(receiver, message)
    const rules = {
      allowPrivate: receiver.allowPrivate,
      isPlain: url.protocol === 'http:',
      reachOf: await receiver.loadReach(),
    }
    return await post({ url, headers, body: message.body, signal, rules, clock: receiver.clock })
  } catch (thrown) {
    return { ok: false, problem: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}

async function headersOf(
  { secret, secretSlug, userAgent, clock }: Receiver,
  { id, body }: Message,
): Promise<Record<string, string>> {
  const text = await secret()
  if (text === undefined) throw new Error(`the secret ${secretSlug} is not set: agentproto secrets set ${secretSlug}`)
  const at = new Date(clock.now())
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': userAgent,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': signerOf(text, secretSlug).sign(id, at, body),
  }
}

/** What the library throws could quote the secret. */
function signerOf(secret: string, slug: string): Signer {
  const encoded = secret.trim().replace(/^whsec_/, '')
  const bytes = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) ? Buffer.from(encoded, 'base64').length : 0
  if (bytes < SECRET_BYTES.min || bytes > SECRET_BYTES.max)
    throw new Error(`the secret ${slug} is not valid: expected whsec_ and 24 to 64 bytes in base64`)
  return new Signer(encoded)
}

interface Post {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
  readonly rules: AddressRules
  readonly clock: Clock
}

function post({ url, headers, body, signal, rules, clock }: Post): Promise<Delivery> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  // An address is not looked up, so it is checked here.
  const problem = isIP(host) === 0 ? undefined : addressProblem(host, rules)
  if (problem !== undefined) return Promise.resolve({ ok: false, problem })
  const options: RequestOptions = { method: 'POST', headers, agent: false, lookup: checkedLookup(rules), signal }
  return new Promise((resolve) => {
    const sent = rules.isPlain
      ? httpRequest(url, options)
      : httpsRequest(url, { ...options, rejectUnauthorized: true, minVersion: 'TLSv1.2' })
    const timer = clock.after(ANSWER_MS, () => sent.destroy(new Error(`no answer within ${ANSWER_MS / 1_000} s`)))
    const settle = (delivery: Delivery): void => {
      timer.cancel()
      resolve(delivery)
      sent.destroy()
    }
    sent.once('response', ({ statusCode = 0, headers: answer }) =>
      settle(deliveryOf(statusCode, answer['retry-after'], clock.now())),
    )
    sent.on('error', (error) => settle({ ok: false, problem: error.message }))
    sent.end(body)
  })
}

function deliveryOf(status: number, retryAfter: string | undefined, now: number): Delivery {
  if (status >= 200 && status < 300) return { ok: true, status }
  const isRedirect = status >= 300 && status < 400
  const problem = isRedirect ? `it answered ${status}; a redirect is not followed` : `it answered ${status}`
  const retryAfterMs = retryAfter === undefined ? undefined : millisecondsOf(retryAfter, now)
  return { ok: false, status, problem, ...(retryAfterMs !== undefined && { retryAfterMs }) }
}

/** RFC 9110 section 10.2.3: seconds or a date. */
function millisecondsOf(retryAfter: string, now: number): number | undefined {
  const ms = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - now
  return Number.isFinite(ms) && ms > 0 ? ms : undefined
}

/** Resolves a name, and refuses it when one of its addresses is not allowed: the connection may use any of them. */
function checkedLookup(rules: AddressRules): LookupFunction {
  return (host, options, callback) => {
    dnsLookup(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '')
      const problem = addresses.map(({ address }) => addressProblem(address, rules)).find((each) => each !== undefined)
      const [first] = addresses
      if (problem !== undefined || first === undefined)
        return callback(new Error(problem ?? `${host} has no address`), '')
      if (options.all === true) return callback(null, addresses)
      return callback(null, first.address, first.family)
    })
  }
}
