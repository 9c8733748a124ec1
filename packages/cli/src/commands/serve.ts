import { resolve as resolvePath } from 'node:path'
import { AgentprotoError, defined, isAgentprotoError } from '@agentproto/contracts'
import type { DaemonRecord } from '@agentproto/contracts/agent'
import type { TlsOptions } from '@agentproto/runtime'
import type { Define } from '../cli-command.js'
import { print, warn, type CliContext } from '../cli-context.js'
import { addClusterOptions, clusterArgs, type ClusterFlags, clusterOf } from '../cluster-options.js'
import { toPort } from '../command-definition.js'
import { homeOf, readDaemon } from '../daemon/daemon-record.js'
import { startDaemon } from '../daemon/daemon-start.js'
import { onParentGone, serveAgain } from '../daemon/serve-again.js'

const HELP = `
Examples:
  $ agentproto serve                   in this terminal, until Ctrl-C
  $ agentproto serve --detach          in the background, until: agentproto stop
  $ agentproto serve --port 0          on a free port; the other commands find it
  $ agentproto serve --cluster nats://10.0.0.5:4222 --host-name laptop   as one of a fleet

It prints its address on stdout when it answers. A home has one gateway, which the other commands start when they need
it. The default port is that of config.json, else 7646, else a free one.

Ctrl-C, or agentproto stop, ends it and its agents. Ctrl-\\, or agentproto stop --keep-agents, ends it and leaves its agents
to the next gateway; so does a crash. agentproto restart starts it again here, while its agents go on.`

interface ServeOptions extends ClusterFlags {
  readonly detach?: boolean
  readonly port?: number
  readonly host?: string
  readonly allowRemote?: boolean
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly tlsClientCa?: string
}

export const define: Define = (command) =>
  addClusterOptions(
    command
      .description('run the gateway of this home')
      .option('-d, --detach', 'run in the background')
      .option('--port <port>', 'port to listen on; 0 picks a free one', toPort)
      .option('--host <host>', 'address to listen on (default: that of config.json, else 127.0.0.1)')
      .option('--allow-remote', 'allow a --host that other machines can reach')
      .option('--tls-cert <file>', 'PEM certificate; with --tls-key it serves https')
      .option('--tls-key <file>', 'PEM key of the certificate')
      .option('--tls-client-ca <file>', 'PEM certificate of a CA that must have signed the certificates of clients'),
  )
    .addHelpText('after', HELP)
    .run((context, options: ServeOptions) => (options.detach === true ? serveDetached : serve)(context, options))

/** What ends a gateway: SIGINT, SIGTERM and SIGHUP, SIGQUIT, and SIGUSR2. */
type End = 'stop' | 'leave' | 'restart'

const ENDS: readonly (readonly [NodeJS.Signals, End])[] = [
  ['SIGINT', 'stop'],
  ['SIGTERM', 'stop'],
  ['SIGHUP', 'stop'],
  // Its agents go on, for the next gateway.
  ['SIGQUIT', 'leave'],
  ['SIGUSR2', 'restart'],
]

/** Serves until a signal. @returns the exit code */
async function serve(context: CliContext, { host, port, allowRemote, ...options }: ServeOptions): Promise<number> {
  // The handlers come first (F64): a signal during the start must end what was started.
  const ending = firstEnd()
  ignoreFailedWrites(context)
  const { createGateway } = await import('@agentproto/runtime')
  const gateway = await createGateway({
    cwd: context.cwd,
    defaults: { keeper: true },
    ...defined({ cluster: clusterOf(context.cwd, options) }),
    // As it was called: beside an npm link stands the name that agents can call.
    ...defined({ bin: process.argv[1] }),
    onProblem: (problem) => warn(context, problem),
  }).catch(async (thrown: unknown) => withAddress(thrown, await readDaemon(homeOf(context))))
  // A gateway that fails to listen leaves the agents that it has adopted.
  let end: End = 'leave'
  try {
    const files = tlsFiles(context, options)
    const tls = Object.keys(files).length === 0 ? undefined : files
    const onRestart = gateway.keeper === undefined ? 'ends-agents' : 'keeps-agents'
    const { url } = await gateway.listen({ orFree: true, onRestart, ...defined({ host, port, allowRemote, tls }) })
    print(context.stdout, url)
    if (context.stderr.isTTY === true)
      print(context.stderr, 'Serving; Ctrl-C stops it. In another terminal: agentproto sessions start demo --attach')
    end = await ending.first
  } finally {
    await gateway.close({ keepAgents: end !== 'stop' })
  }
  return end === 'restart' && !ending.isStopped() ? serveAgain() : 0
}

/** Prints the address of the gateway in the background, even if it was already running. */
async function serveDetached(context: CliContext, options: ServeOptions): Promise<void> {
  const before = await readDaemon(homeOf(context))
  const record = await startDaemon(context, argsOf(context, options))
  print(context.stdout, record.url)
  if (before?.pid === record.pid) print(context.stderr, `A gateway was already running, process ${record.pid}.`)
  else if (context.stderr.isTTY === true)
    print(context.stderr, 'Serving in the background. Stop it with: agentproto stop')
}

function argsOf(context: CliContext, { host, port, allowRemote, ...options }: ServeOptions): string[] {
  const { cert, key, clientCa } = tlsFiles(context, options)
  const values = { '--port': port, '--host': host, '--tls-cert': cert, '--tls-key': key, '--tls-client-ca': clientCa }
  return [
    ...Object.entries(values).flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)])),
    ...(allowRemote === true ? ['--allow-remote'] : []),
    ...clusterArgs(context.cwd, options),
  ]
}

/** The first end that was asked for, and whether a stop was asked for since. */
function firstEnd(): { readonly first: Promise<End>; isStopped(): boolean } {
  let isStopped = false
  const first = new Promise<End>((resolve) => {
    const handle = (end: End): void => {
      isStopped ||= end === 'stop'
      resolve(end)
    }
    for (const [signal, end] of ENDS) process.on(signal, () => handle(end))
    onParentGone(() => handle('leave'))
  })
  return { first, isStopped: () => isStopped }
}

/** A full disk ends the sessions whose log cannot be written. It does not end the gateway. */
function ignoreFailedWrites({ stderr }: CliContext): void {
  // In the background stderr is a file of the home.
  stderr.on('error', () => undefined)
  // A file that may not grow (`ulimit -f`) is a write that fails. Without a handler the signal would end the process.
  process.on('SIGXFSZ', () => undefined)
}

type TlsFiles = { readonly [Part in keyof TlsOptions]?: string }

/** The gateway reads the files, now and whenever they change. */
function tlsFiles({ cwd }: CliContext, { tlsCert, tlsKey, tlsClientCa }: ServeOptions): TlsFiles {
  const absolute = (file: string | undefined): string | undefined =>
    file === undefined ? undefined : resolvePath(cwd, file)
  return defined({ cert: absolute(tlsCert), key: absolute(tlsKey), clientCa: absolute(tlsClientCa) })
}

/** Adds the address of the other gateway to a `daemon_running` error. */
async function withAddress(thrown: unknown, record: DaemonRecord | undefined): Promise<never> {
  if (!isAgentprotoError(thrown) || thrown.code !== 'daemon_running' || record === undefined) throw thrown
  const { url, pid } = record
  throw new AgentprotoError('daemon_running', `This home already has a gateway: ${url}, process ${pid}`, {
    hint: 'Use it (agentproto status), stop it (agentproto stop), or choose another home with AGENTPROTO_HOME',
    data: { url, pid },
    cause: thrown,
  })
}
