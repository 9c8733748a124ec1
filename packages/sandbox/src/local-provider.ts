import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defined } from '@agentproto/contracts'
import type { Launch } from '@agentproto/contracts/agent'
import { type Bubblewrap, bubblewrapArgs, findBubblewrap, probeSandbox } from './bubblewrap.js'
import { createExtras, holdExtrasAgain, SOCKET_INSIDE } from './extras.js'
import { confinesFiles, filePolicy } from './file-policy.js'
import type { ConfinementProfile, PreparedLaunch, SandboxProvider, SandboxRequest } from './sandbox-provider.js'

const RELAY = fileURLToPath(new URL('../bin/egress-relay.mjs', import.meta.url))
/** Any port works: the sandbox has its own loopback. */
const PROXY_PORT = 3128

/** Whether a profile of `local` requires more than an environment and limits. */
export const requiresConfinement = (profile: ConfinementProfile): boolean =>
  profile.network !== undefined || profile.exec !== undefined || confinesFiles(profile)

/**
 * Confines with bubblewrap: kernel namespaces, no container and no daemon.
 * @param ownNames Names of the gateway, beside those of this machine
 */
export function createLocalProvider(ownNames: readonly string[]): SandboxProvider {
  let known: Promise<Bubblewrap> | undefined

  async function bubblewrap(): Promise<Bubblewrap> {
    // Not the agent's PATH, which its manifest can set.
    known ??= findBubblewrap(process.env['PATH'] ?? '')
    const result = await known
    // It may be installed later, while we run.
    if (result.reason !== undefined) known = undefined
    return result
  }

  async function prepare(profile: ConfinementProfile, request: SandboxRequest): Promise<PreparedLaunch> {
    const { launch } = request
    const { file, reason, isolation } = await bubblewrap()
    if (file === undefined) return { launch, enforced: false, ...defined({ reason }), warnings: [] }
    const files = filePolicy(profile, request, [...programs(launch), process.execPath, dirname(RELAY)])
    const { egress: list = [] } = profile.network ?? {}
    const egress = list.length > 0 ? { list, ownNames } : undefined
    const extras = await createExtras({ ...files, egress, folder: request.folder })
    const args = bubblewrapArgs({ isolation, files, extras: extras?.mounts ?? [], cwd: launch.cwd })
    const found = await probeSandbox(file, args, files).catch(async (thrown: unknown) => {
      await extras?.release()
      throw thrown
    })
    const gaps = [...files.gaps, ...programGaps(profile), ...(reason === undefined ? [] : [reason]), ...found]
    return {
      launch: wrapped(launch, { file, args, ports: egress && loopbackPorts(profile) }),
      enforced: gaps.length === 0,
      ...(gaps.length === 0 ? {} : { reason: gaps.join('; ') }),
      warnings: [...files.warnings, ...ingressWarnings(profile)],
      ...defined({ release: extras?.release, kept: extras?.kept }),
    }
  }

  return { prepare, holdAgain: (facts, { folder }) => holdExtrasAgain(facts, folder, ownNames) }
}

/** What runs inside, at its path on the host. */
function programs({ command, args: [script = ''] }: Launch): readonly string[] {
  if (command !== process.execPath || !isAbsolute(script)) return [command]
  return [command, packageOf(script), ...moduleFolders(dirname(script))]
}

/** Where Node looks for the script's imports: `node_modules` in every folder above it. */
function moduleFolders(folder: string): readonly string[] {
  if (folder === dirname(folder)) return []
  const modules = join(folder, 'node_modules')
  return [...(existsSync(modules) ? [modules] : []), ...moduleFolders(dirname(folder))]
}

/** The folder that contains a script and its modules. */
function packageOf(script: string): string {
  const modules = script.indexOf('/node_modules/')
  if (modules > 0) return script.slice(0, modules + '/node_modules'.length)
  let folder = dirname(script)
  while (folder !== '/' && !existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder === '/' ? dirname(script) : folder
}

interface Wrapper {
  readonly file: string
  readonly args: readonly string[]
  /** Listed ports of the host's loopback; absent when nothing may be reached. */
  readonly ports: readonly number[] | undefined
}

function wrapped(launch: Launch, { file, args, ports }: Wrapper): Launch {
  const relay = ports === undefined ? [] : [process.execPath, RELAY, SOCKET_INSIDE, String(PROXY_PORT), ports.join(',')]
  const variables = Object.entries({ ...launch.env, ...(ports === undefined ? {} : PROXY_VARIABLES) })
  // They would load code of the agent into bubblewrap itself, which is outside.
  const inside = variables.filter(([name]) => LOADER_VARIABLE.test(name))
  return {
    ...launch,
    command: file,
    args: [
      ...inside.flatMap((variable) => ['--setenv', ...variable]),
      ...args,
      ...relay,
      launch.command,
      ...launch.args,
    ],
    env: Object.fromEntries(variables.filter((variable) => !inside.includes(variable))),
  }
}

const LOADER_VARIABLE = /^(?:LD_|GLIBC_TUNABLES$|GCONV_PATH$|LOCPATH$)/

/** Many agents call a model server on this machine without a proxy. */
function loopbackPorts({ network }: ConfinementProfile): readonly number[] {
  const ports = (network?.egress ?? []).flatMap((entry) => /^(?:localhost|127\.0\.0\.1):(\d+)$/i.exec(entry)?.[1] ?? [])
  return [...new Set(ports.map(Number))].filter((port) => port !== PROXY_PORT)
}

const PROXY_URL = `http://127.0.0.1:${PROXY_PORT}`
/** The sandbox's own loopback, and the ports that are forwarded there. */
const LOOPBACK = 'localhost,127.0.0.1,::1'
/** Programs read either spelling. Node's `fetch` (24 and later) also needs the last variable. */
const PROXY_VARIABLES: Readonly<Record<string, string>> = {
  HTTP_PROXY: PROXY_URL,
  HTTPS_PROXY: PROXY_URL,
  http_proxy: PROXY_URL,
  https_proxy: PROXY_URL,
  NO_PROXY: LOOPBACK,
  no_proxy: LOOPBACK,
  NODE_USE_ENV_PROXY: '1',
}

const programGaps = ({ exec }: ConfinementProfile): readonly string[] =>
  exec === undefined || (exec.allow && exec.spawn.length === 0)
    ? []
    : ['exec: bubblewrap does not distinguish programs']

const ingressWarnings = ({ network }: ConfinementProfile): readonly string[] =>
  network === undefined || network.ingress.length === 0
    ? []
    : ['sandbox.network.ingress is not enforced: nothing can connect to the sandbox']
