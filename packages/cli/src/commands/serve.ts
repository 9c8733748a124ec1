import { resolve as resolvePath } from 'node:path'
import { EXIT } from '@agentproto/contracts'
import type { Gateway, TlsOptions } from '@agentproto/runtime'
import { startDaemon } from '../daemon/daemon-start.js'
import { homeOf, readDaemon } from '../daemon/daemon-record.js'
import { print, type Io } from '../io.js'
import { nameOwner } from '../daemon/running-daemon.js'

export interface ServeOptions {
  readonly detach?: boolean
  readonly port?: number
  readonly host?: string
  readonly allowRemote?: boolean
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly tlsClientCa?: string
}

/** `agentproto serve`: the gateway of this home, until SIGINT or SIGTERM. Its address is what stdout gets. */
export async function serve(io: Io, options: ServeOptions): Promise<number> {
  if (options.detach === true) return serveDetached(io, options)
  // The handlers come first (F64): a signal during the start must end what was started.
  const asked = firstSignal()
  outliveRefusedWrites(io)
  const { createGateway } = await import('@agentproto/runtime')
  const gateway = await createGateway({
    cwd: io.cwd,
    // As it was called: beside a link of npm's is the name that agents can call.
    ...(process.argv[1] === undefined ? {} : { bin: process.argv[1] }),
    onProblem: (problem) => print(io.stderr, `agentproto: ${problem}`),
  }).catch(nameOwner(() => readDaemon(homeOf(io))))
  try {
    const url = await listen(io, gateway, options)
    print(io.stdout, url)
    if (io.stderr.isTTY === true)
      print(io.stderr, 'Serving; Ctrl-C ends it. In another terminal: agentproto sessions start demo --attach')
    await asked
  } finally {
    await gateway.close()
  }
  return EXIT.ok
}

/** `--detach`: the address of the gateway in the background, be it the one that runs already. */
async function serveDetached(io: Io, options: ServeOptions): Promise<number> {
  const before = await readDaemon(homeOf(io))
  const record = await startDaemon(io, argsOf(io, options))
  print(io.stdout, record.url)
  if (before?.pid === record.pid) print(io.stderr, `A gateway ran already, process ${record.pid}.`)
  else if (io.stderr.isTTY === true) print(io.stderr, 'Serving in the background. It ends with: agentproto stop')
  return EXIT.ok
}

function argsOf(io: Io, { host, port, allowRemote, ...options }: ServeOptions): string[] {
  const { cert, key, clientCa } = tlsOf(io, options)
  return [
    ...(port === undefined ? [] : ['--port', String(port)]),
    ...(host === undefined ? [] : ['--host', host]),
    ...(allowRemote === true ? ['--allow-remote'] : []),
    ...(cert === undefined ? [] : ['--tls-cert', cert]),
    ...(key === undefined ? [] : ['--tls-key', key]),
    ...(clientCa === undefined ? [] : ['--tls-client-ca', clientCa]),
  ]
}

/** Where the command line says, else config.json, else at the usual port, or at a free one where that is taken. */
async function listen(io: Io, gateway: Gateway, options: ServeOptions): Promise<string> {
  const tls = tlsOf(io, options)
  const { host, port, allowRemote } = options
  const { url } = await gateway.listen({
    orFree: true,
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(allowRemote === undefined ? {} : { allowRemote }),
    ...(Object.keys(tls).length === 0 ? {} : { tls }),
  })
  return url
}

function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve())
  })
}

/** A disk that takes nothing more ends sessions, whose log would lie; it does not end the gateway. */
function outliveRefusedWrites({ stderr }: Io): void {
  // In the background stderr is a file of the home: what cannot be told there must not be thrown either.
  stderr.on('error', () => undefined)
  // A file that may not grow (`ulimit -f`) is a write that fails; unheard, the signal would end the process.
  process.on('SIGXFSZ', () => undefined)
}

type TlsFiles = { readonly [Part in keyof TlsOptions]?: string }

/** The files that are named; the gateway reads them, now and whenever they change. */
function tlsOf({ cwd }: Io, { tlsCert, tlsKey, tlsClientCa }: ServeOptions): TlsFiles {
  return {
    ...(tlsCert === undefined ? {} : { cert: resolvePath(cwd, tlsCert) }),
    ...(tlsKey === undefined ? {} : { key: resolvePath(cwd, tlsKey) }),
    ...(tlsClientCa === undefined ? {} : { clientCa: resolvePath(cwd, tlsClientCa) }),
  }
}
