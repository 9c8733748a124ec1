import { AgentprotoError, type DaemonRecord, type HomeLayout } from '@agentproto/contracts'
import { createClient, type Client, type Fetch } from '@agentproto/client'
import { homeOf, readDaemon, textOf } from './daemon-record.js'
import { httpFetch } from '../http-fetch.js'
import { print, type Io } from '../io.js'
import { isThere } from './process-there.js'
import { traced } from '../traced.js'
import { version } from '../version.js'

/** Where the gateway is and how to speak to it. */
export interface Daemon {
  readonly url: string
  /** Where this machine reaches it; `url` may be TLS. */
  readonly reach: string
  readonly token: string | undefined
}

export interface ConnectOptions {
  /** How long a follower sits out an outage, in milliseconds. Default: as long as the client's own. */
  readonly reconnectMs?: number
}

/**
 * A client of the gateway that the environment names (`AGENTPROTO_URL`, `AGENTPROTO_TOKEN`), else of the one that
 * serves the home, which is started where the command may do so. Where that listens elsewhere after a restart, it is
 * found there.
 * @throws `daemon_not_running`
 */
export async function connect(io: Io, options: ConnectOptions = {}): Promise<Client> {
  const { reach, token } = await findDaemon(io)
  const send = httpFetch(reach.startsWith('https:') ? (await import('../client-tls.js')).clientTls(io) : {})
  let answered = false
  const fetch: Fetch = async (to, init) => {
    const response = await send(to, init)
    answered = true
    return response
  }
  async function locate(): Promise<Pick<Daemon, 'url' | 'token'> | undefined> {
    // A record of a gateway that was killed, its pid given to another process meanwhile. One that goes away later is
    // left to its owner.
    const record = answered || io.mayStart !== true ? await readDaemon(homeOf(io)) : await startOne(io)
    return record && { url: record.local ?? record.url, token: await tokenOf(io) }
  }
  return createClient({
    url: reach,
    fetch,
    ...(isNamed(io) ? {} : { locate }),
    ...(token === undefined ? {} : { token }),
    ...traced(io),
    ...options,
  })
}

/** @throws `daemon_not_running` when the home has none and none may be started */
export async function findDaemon(io: Io): Promise<Daemon> {
  const home = homeOf(io)
  const named = io.env['AGENTPROTO_URL']
  const record = named ? undefined : ((await runningRecord(home)) ?? (await started(io)))
  const url = named || record?.url
  if (url === undefined) throw notRunning(home)
  if (record !== undefined) tellSkew(io, record)
  return { url, reach: record?.local ?? url, token: await tokenOf(io) }
}

const notRunning = ({ root }: HomeLayout): AgentprotoError =>
  new AgentprotoError('daemon_not_running', `No gateway is running for ${root}`, {
    hint: 'Start one with: agentproto serve --detach',
  })

const isNamed = ({ env }: Io): boolean => Boolean(env['AGENTPROTO_URL'])

const started = (io: Io): Promise<DaemonRecord | undefined> =>
  io.mayStart === true ? startOne(io) : Promise.resolve(undefined)

const startOne = async (io: Io): Promise<DaemonRecord> => (await import('./daemon-start.js')).startDaemon(io)

/** A record outlives a gateway that was killed: its process tells. */
async function runningRecord(home: HomeLayout): Promise<DaemonRecord | undefined> {
  const record = await readDaemon(home)
  return record !== undefined && isThere(record.pid) ? record : undefined
}

/** Who was told; a command connects more than once. */
const toldSkew = new WeakSet<Io['stderr']>()

function tellSkew({ stderr }: Io, record: DaemonRecord): void {
  const own = version()
  if (record.version === own || toldSkew.has(stderr)) return
  toldSkew.add(stderr)
  print(
    stderr,
    `agentproto: the gateway is ${record.version}, this command is ${own}. Restart it with: agentproto stop && agentproto serve --detach`,
  )
}

const tokenOf = async (io: Io): Promise<string | undefined> =>
  io.env['AGENTPROTO_TOKEN'] || (await textOf(homeOf(io).token))?.trim() || undefined
