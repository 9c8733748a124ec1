import { resolve as resolvePath } from 'node:path'
import { defined } from '@agentproto/contracts'
import type { ClusterOptions } from '@agentproto/runtime'
import { InvalidArgumentError } from 'commander'
import type { CliCommand } from './cli-command.js'

/** The options of `serve` that make the gateway one of a fleet. */
export interface ClusterFlags {
  readonly cluster?: readonly string[]
  readonly clusterCreds?: string
  readonly clusterNkey?: string
  readonly clusterKey?: string
  readonly clusterTlsCa?: string
  readonly clusterTlsCert?: string
  readonly clusterTlsKey?: string
  readonly hostName?: string
  readonly hostLabel?: Readonly<Record<string, string>>
}

export const addClusterOptions = (command: CliCommand): CliCommand =>
  command
    .option('--cluster <urls>', 'join a fleet: addresses of its NATS servers, nats://host:port,…', toServers)
    .option('--cluster-creds <file>', 'credentials file of NATS')
    .option('--cluster-nkey <file>', 'file with an nkey seed')
    .option('--cluster-key <file>', 'key of the fleet (default: fleet.key of the home)')
    .option('--cluster-tls-ca <file>', "PEM certificate of the CA of the servers' certificates")
    .option('--cluster-tls-cert <file>', 'PEM certificate that the servers ask for')
    .option('--cluster-tls-key <file>', 'PEM key of that certificate')
    .option('--host-name <name>', 'name of this host in the fleet (default: of the machine)')
    .option('--host-label <key=value>', 'label of this host; repeatable', addLabel)

/** Undefined without any of them. The gateway reads the files. */
export function clusterOf(cwd: string, flags: ClusterFlags): ClusterOptions | undefined {
  const at = (file: string | undefined): string | undefined => (file === undefined ? undefined : resolvePath(cwd, file))
  const tls = defined({ ca: at(flags.clusterTlsCa), cert: at(flags.clusterTlsCert), key: at(flags.clusterTlsKey) })
  const options = defined({
    servers: flags.cluster,
    credentials: at(flags.clusterCreds),
    nkey: at(flags.clusterNkey),
    key: at(flags.clusterKey),
    tls: Object.keys(tls).length === 0 ? undefined : tls,
    host: flags.hostName,
    labels: flags.hostLabel,
  })
  return Object.keys(options).length === 0 ? undefined : options
}

/** The same options for another process, with absolute paths. */
export function clusterArgs(cwd: string, flags: ClusterFlags): string[] {
  const { servers, credentials, nkey, key, tls = {}, host, labels = {} } = clusterOf(cwd, flags) ?? {}
  const values = {
    '--cluster': servers?.join(','),
    '--cluster-creds': credentials,
    '--cluster-nkey': nkey,
    '--cluster-key': key,
    '--cluster-tls-ca': tls.ca,
    '--cluster-tls-cert': tls.cert,
    '--cluster-tls-key': tls.key,
    '--host-name': host,
  }
  return [
    ...Object.entries(values).flatMap(([flag, value]) => (value === undefined ? [] : [flag, value])),
    ...Object.entries(labels).flatMap(([name, value]) => ['--host-label', `${name}=${value}`]),
  ]
}

/** The gateway checks them: an error here would quote a password that stands in one. */
const toServers = (text: string): readonly string[] => text.split(',').map((server) => server.trim())

function addLabel(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const at = text.indexOf('=')
  if (at < 1 || at === text.length - 1) throw new InvalidArgumentError('Write it as key=value.')
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) }
}
