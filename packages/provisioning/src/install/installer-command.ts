import { AgentprotoError, defined } from '@agentproto/contracts'
import { findExecutable } from '@agentproto/subprocess'
import type { Command } from '../run-command.js'
import { runTool } from '../run-tool.js'
import { type Installing, MethodSkipped } from './installing.js'

/** A large agent over a slow line. */
const INSTALL_MS = 15 * 60_000

export interface InstallerCommand {
  readonly method: string
  /** Absolute path. */
  readonly file: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Runs an installer, its lines as events. @throws `install_failed` when it does not end with 0 */
export async function runInstaller(
  { method, file, args, env = {} }: InstallerCommand,
  installing: Installing,
): Promise<void> {
  const { host, emit, signal } = installing
  emit({ type: 'method', method, state: 'started', detail: [nameOf(file), ...args].join(' ') })
  const onLine: Command['onLine'] = (stream, line) => emit({ type: 'output', stream, line: host.redactor.redact(line) })
  const end = await runTool({ file, args, env, timeoutMs: INSTALL_MS, signal, onLine }, host)
  if (end.exitCode === 0) return
  const how = end.timedOut
    ? `took more than ${INSTALL_MS / 60_000} minutes`
    : `ended with ${end.exitCode ?? end.signal ?? 'no exit code'}`
  throw new AgentprotoError('install_failed', `${nameOf(file)} ${how}${lastWords(end.stderr || end.stdout)}`)
}

/** The absolute path of a tool. @throws {@link MethodSkipped} when this host has none of them */
export async function requireTool(names: readonly string[], { host }: Installing): Promise<string> {
  for (const name of names) {
    const file = await findExecutable(name, {
      path: host.env['PATH'] ?? '',
      ...defined({ home: host.env['HOME'] }),
    })
    if (file !== undefined) return file
  }
  throw new MethodSkipped(`there is no ${names.join(' or ')} on PATH`)
}

/** A name that begins with a dash would be an option of the package manager's. */
export function checkPackage(name: string): string {
  if (!name.startsWith('-') && !/[\s\0]/.test(name)) return name
  throw new AgentprotoError('install_failed', 'The package of the manifest is no name of a package', { given: name })
}

const nameOf = (file: string): string => file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1)

/** Installers say at the end what went wrong. */
function lastWords(text: string): string {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^npm error (?:A complete log|.*-debug-)/.test(line))
  return lines.length === 0 ? '' : `: ${lines.slice(-3).join(' ').slice(0, 500)}`
}
