import { readFile } from 'node:fs/promises'
import { AgentprotoError, EXIT } from '@agentproto/contracts'
import { homeOf, readDaemon } from '../daemon.js'
import { print, type Io } from '../io.js'
import type { ServeOptions } from '../program/gateway-commands.js'
import { nameOwner } from '../running-daemon.js'

/** `agentproto serve`: the gateway of this home, until SIGINT or SIGTERM. Its address is what stdout gets. */
export async function serve(io: Io, options: ServeOptions): Promise<number> {
  // The handlers come first (F64): a signal during the start must end what was started.
  const asked = firstSignal()
  const { createGateway } = await import('@agentproto/runtime')
  const gateway = await createGateway({
    cwd: io.cwd,
    // As it was called: beside a link of npm's is the name that agents can call.
    ...(process.argv[1] === undefined ? {} : { bin: process.argv[1] }),
    onProblem: (problem) => print(io.stderr, `agentproto: ${problem}`),
  }).catch(nameOwner(() => readDaemon(homeOf(io))))
  try {
    const tls = await tlsOf(options)
    const { host, port, allowRemote = false } = options
    const { url } = await gateway.listen({
      host,
      port,
      allowRemote,
      ownProcess: true,
      ...(tls === undefined ? {} : { tls }),
    })
    print(io.stdout, url)
    if (io.stderr.isTTY === true)
      print(io.stderr, 'Serving; Ctrl-C ends it. In another terminal: agentproto sessions start demo --attach')
    await asked
  } finally {
    await gateway.close()
  }
  return EXIT.ok
}

function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve())
  })
}

async function tlsOf({ tlsCert, tlsKey }: ServeOptions): Promise<{ cert: Buffer; key: Buffer } | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (tlsCert !== undefined && tlsKey !== undefined) {
    const [cert, key] = await Promise.all([readFile(tlsCert), readFile(tlsKey)]).catch(unreadable)
    return { cert, key }
  }
  throw new AgentprotoError('invalid_request', 'TLS needs both files', { expected: '--tls-cert and --tls-key' })
}

function unreadable(thrown: unknown): never {
  throw new AgentprotoError('path_invalid', 'A TLS file cannot be read', {
    given: thrown instanceof Error ? thrown.message : thrown,
    cause: thrown,
  })
}
