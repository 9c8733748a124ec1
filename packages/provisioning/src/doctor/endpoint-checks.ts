import { isIP } from 'node:net'
import { connect } from 'node:tls'
import { defined, isAgentprotoError, systemClock } from '@agentproto/contracts'
import type { DoctorCheck } from '@agentproto/contracts/wire'
import {
  type CheckedEndpoint,
  endpointPlace,
  guardEndpoint,
  reachEndpoint,
} from '@agentproto/driver-agent-cli/installation'
import type { AgentEndpoint } from '@agentproto/manifest'
import type { RunningExamination } from './examination.js'

const CONNECT_MS = 10_000
const DAY_MS = 86_400_000
/** A certificate that ends sooner is a warning. */
const EXPIRY_DAYS = 14

/** Whether an agent that runs elsewhere may be reached, is reached, proves who it is, and shakes hands. The first failure is the last check. */
export async function endpointChecks(
  endpoint: AgentEndpoint,
  examination: RunningExamination,
): Promise<readonly DoctorCheck[]> {
  const checks: DoctorCheck[] = []
  for (const check of [addressCheck, certificateCheck, handshakeCheck]) {
    const found = await check(endpoint, examination)
    checks.push(found)
    if (found.verdict === 'fail') break
  }
  return checks
}

async function addressCheck({ url, headers }: AgentEndpoint, { host }: RunningExamination): Promise<DoctorCheck> {
  const base = { id: 'endpoint.address', title: 'Address' }
  try {
    const { addresses } = await guardEndpoint(url, host)
    const names = Object.keys(headers)
    const sent = names.length === 0 ? 'without headers' : `with ${names.join(', ')}`
    return { ...base, verdict: 'ok', detail: `${url}, at ${addresses.join(', ')}, ${sent}` }
  } catch (thrown) {
    return { ...base, verdict: 'fail', ...failure(thrown) }
  }
}

async function certificateCheck({ url: address }: AgentEndpoint, { host }: RunningExamination): Promise<DoctorCheck> {
  const base = { id: 'endpoint.tls', title: 'Certificate' }
  const url = new URL(address)
  if (url.protocol !== 'wss:') return { ...base, verdict: 'warn', detail: 'the connection is not encrypted' }
  try {
    const until = await certificateEnd(url, await guardEndpoint(address, host))
    const days = Math.floor((until - (host.clock ?? systemClock).now()) / DAY_MS)
    return { ...base, verdict: days < EXPIRY_DAYS ? 'warn' : 'ok', detail: `it is valid for ${days} more days` }
  } catch (thrown) {
    const hint = 'A certificate of your own authority is accepted through NODE_EXTRA_CA_CERTS'
    return { ...base, verdict: 'fail', hint, ...failure(thrown) }
  }
}

/** When the certificate ends, in milliseconds since the epoch. It is verified, whatever the environment says. */
async function certificateEnd(url: URL, { lookup }: CheckedEndpoint): Promise<number> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = Number(endpointPlace(url).split(':').at(-1))
  const socket = connect({ host, port, lookup, rejectUnauthorized: true, ...serverName(host), timeout: CONNECT_MS })
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('secureConnect', resolve)
      socket.once('error', reject)
      socket.once('timeout', () => reject(new Error(`no answer within ${CONNECT_MS / 1_000} s`)))
    })
    return Date.parse(socket.getPeerCertificate().valid_to)
  } finally {
    socket.destroy()
  }
}

/** RFC 6066: an address is no server name. */
const serverName = (host: string): { readonly servername?: string } =>
  isIP(host) === 0 ? { servername: host.replace(/\.$/, '') } : {}

async function handshakeCheck(endpoint: AgentEndpoint, { host, signal }: RunningExamination): Promise<DoctorCheck> {
  const base = { id: 'endpoint.handshake', title: 'Shakes hands' }
  try {
    const { info, handshakeMs } = await reachEndpoint(endpoint, host, signal)
    const name = [info.name ?? 'an agent without a name', ...(info.version === undefined ? [] : [info.version])].join(
      ' ',
    )
    return { ...base, verdict: 'ok', detail: `${name}, after ${handshakeMs} ms` }
  } catch (thrown) {
    if (signal.aborted) throw thrown
    return { ...base, verdict: 'fail', ...failure(thrown) }
  }
}

function failure(thrown: unknown): Pick<DoctorCheck, 'detail' | 'hint'> {
  const detail = thrown instanceof Error ? thrown.message : String(thrown)
  return { detail, ...defined({ hint: isAgentprotoError(thrown) ? thrown.parts.hint : undefined }) }
}
