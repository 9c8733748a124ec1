import { AgentprotoError, defined } from '@agentproto/contracts'
import type { DaemonRecord, HomeLayout } from '@agentproto/contracts/agent'
import { createClient, type Client, type ClientOptions, type Fetch } from '@agentproto/client'
import { warn, type CliContext } from '../cli-context.js'
import { httpFetch } from '../http-fetch.js'
import { traceOptions } from '../trace-options.js'
import { version } from '../version.js'
import { homeOf, readDaemon, readHomeFile } from './daemon-record.js'
import { gatewayUrl, isPrivateWay, isSameGateway } from './gateway-url.js'

export interface Daemon {
  /** The address for other programs. */
  readonly url: string
  /** The address for this machine, which is never TLS; `url` may be. */
  readonly localUrl: string
  readonly token: string | undefined
}

/**
 * A client of the gateway that `AGENTPROTO_URL` names, with the token of `AGENTPROTO_TOKEN` or the one that is stored for exactly
 * this address; else of the gateway of the home, which is started when the command may do so. After a restart at another
 * address, the client finds it there.
 * @throws `daemon_not_running`
 */
export async function connect(context: CliContext, options: Pick<ClientOptions, 'reconnectMs'> = {}): Promise<Client> {
  const { localUrl, token = await storedTokenOf(context) } = await findDaemon(context)
  const send = httpFetch(localUrl.startsWith('https:') ? (await import('../client-tls.js')).clientTls(context) : {})
  let hasAnswered = false
  const fetch: Fetch = async (to, init) => {
    const response = await send(to, init)
    hasAnswered = true
    return response
  }
  async function locate(): Promise<Pick<Daemon, 'url' | 'token'> | undefined> {
    // Before the first answer, the record may be that of a killed gateway whose pid another process has now. A gateway
    // that stops later is not started again by its clients.
    const mayStart = !hasAnswered && context.autoStart === true
    const record = mayStart ? await startGateway(context) : await readDaemon(homeOf(context))
    return record && { url: record.local ?? record.url, token: await tokenOf(context) }
  }
  const found = defined({ token, locate: gatewayUrl(context.env) === undefined ? locate : undefined })
  return createClient({ url: localUrl, fetch, ...found, ...traceOptions(context), ...options })
}

/**
 * @throws `daemon_not_running` when the home has no gateway and the command may not start one; `invalid_request` for an
 *   `AGENTPROTO_URL` that is no address
 */
export async function findDaemon(context: CliContext): Promise<Daemon> {
  const home = homeOf(context)
  const named = gatewayUrl(context.env)
  const own = named === undefined ? await recordOf(context, home) : await recordAt(home, named)
  const token = await tokenOf(context, named === undefined || own !== undefined)
  if (own !== undefined) {
    warnOfOtherVersion(context, own)
    return { url: own.url, localUrl: own.local ?? own.url, token }
  }
  if (named !== undefined) return { url: named, localUrl: named, token }
  throw new AgentprotoError('daemon_not_running', `No gateway is running for ${home.root}`, {
    hint: 'Start one with: agentproto serve --detach',
  })
}

/** Whether the gateway that the command uses is that of the home, and so on this machine. */
export async function isOwnGateway({ env }: Pick<CliContext, 'env'>): Promise<boolean> {
  const named = gatewayUrl(env)
  return named === undefined || (await recordAt(homeOf({ env }), named)) !== undefined
}

/**
 * The record of the home's gateway, if the address is its own, also by another name of this machine. It is called at the
 * address of the record: `localhost` may lead to another program, which must not get the owner's token.
 */
async function recordAt(home: HomeLayout, named: string): Promise<DaemonRecord | undefined> {
  const record = await readDaemon(home)
  if (record === undefined) return undefined
  return [record.url, record.local].some((known) => isSameGateway(named, known)) ? record : undefined
}

async function recordOf(context: CliContext, home: HomeLayout): Promise<DaemonRecord | undefined> {
  const record = await readDaemon(home)
  // The record of a gateway that was killed is still there; its process is not.
  if (record !== undefined && processExists(record.pid)) return record
  return context.autoStart === true ? startGateway(context) : undefined
}

const startGateway = async (context: CliContext): Promise<DaemonRecord> =>
  (await import('./daemon-start.js')).startDaemon(context)

/** A command may connect more than once; it warns once. */
const warned = new WeakSet<CliContext['stderr']>()

function warnOfOtherVersion(context: CliContext, record: DaemonRecord): void {
  const own = version()
  if (record.version === own || warned.has(context.stderr)) return
  warned.add(context.stderr)
  const versions = `the gateway is ${record.version}, this command is ${own}`
  warn(context, `${versions}. Restart it with: agentproto restart`)
}

/** The owner's token is for the gateway of its home only: at another address it would be given away. */
async function tokenOf({ env }: CliContext, isOwn = true): Promise<string | undefined> {
  if (env['AGENTPROTO_TOKEN']) return env['AGENTPROTO_TOKEN']
  return isOwn ? (await readHomeFile(homeOf({ env }).token))?.trim() || undefined : undefined
}

/** What `remote login` has stored for the gateway that `AGENTPROTO_URL` names. */
async function storedTokenOf(context: CliContext): Promise<string | undefined> {
  const named = gatewayUrl(context.env)
  if (named === undefined || !isPrivateWay(named)) return undefined
  const { findStoredToken } = await import('../remote/stored-token.js')
  return findStoredToken(context, named)
}

/** Whether a process has this id now, of any user. */
function processExists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM'
  }
}
