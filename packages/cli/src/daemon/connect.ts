import { AgentprotoError, defined } from '@agentproto/contracts'
import type { DaemonRecord, HomeLayout } from '@agentproto/contracts/agent'
import { createClient, type Client, type ClientOptions, type Fetch } from '@agentproto/client'
import { warn, type CliContext } from '../cli-context.js'
import { httpFetch } from '../http-fetch.js'
import { traceOptions } from '../trace-options.js'
import { version } from '../version.js'
import { homeOf, readDaemon, readHomeFile } from './daemon-record.js'

export interface Daemon {
  /** The address for other programs. */
  readonly url: string
  /** The address for this machine, which is never TLS; `url` may be. */
  readonly localUrl: string
  readonly token: string | undefined
}

/**
 * A client of the gateway that `AGENTPROTO_URL` and `AGENTPROTO_TOKEN` name, else of the gateway of the home, which is
 * started when the command may do so. After a restart at another address, the client finds it there.
 * @throws `daemon_not_running`
 */
export async function connect(context: CliContext, options: Pick<ClientOptions, 'reconnectMs'> = {}): Promise<Client> {
  const { localUrl, token } = await findDaemon(context)
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
  const found = defined({ token, locate: context.env['AGENTPROTO_URL'] ? undefined : locate })
  return createClient({ url: localUrl, fetch, ...found, ...traceOptions(context), ...options })
}

/** @throws `daemon_not_running` when the home has no gateway and the command may not start one */
export async function findDaemon(context: CliContext): Promise<Daemon> {
  const home = homeOf(context)
  const named = context.env['AGENTPROTO_URL']
  const record = named ? undefined : await recordOf(context, home)
  const url = named || record?.url
  if (url === undefined) {
    throw new AgentprotoError('daemon_not_running', `No gateway is running for ${home.root}`, {
      hint: 'Start one with: agentproto serve --detach',
    })
  }
  if (record !== undefined) warnOfOtherVersion(context, record)
  return { url, localUrl: record?.local ?? url, token: await tokenOf(context) }
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
  warn(context, `${versions}. Restart it with: agentproto stop && agentproto serve --detach`)
}

/** The owner's token is for the gateway of its home only: at another address it would be given away. */
async function tokenOf(context: CliContext): Promise<string | undefined> {
  const { AGENTPROTO_TOKEN: given, AGENTPROTO_URL: named } = context.env
  if (given) return given
  const home = homeOf(context)
  if (named && !isAt(named, await readDaemon(home))) return undefined
  return (await readHomeFile(home.token))?.trim() || undefined
}

const isAt = (named: string, record: DaemonRecord | undefined): boolean =>
  [record?.url, record?.local].includes(named.replace(/\/+$/, ''))

/** Whether a process has this id now, of any user. */
function processExists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM'
  }
}
