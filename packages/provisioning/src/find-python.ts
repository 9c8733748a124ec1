import { defined } from '@agentproto/contracts'
import { findExecutable } from '@agentproto/subprocess'
import satisfies from 'semver/functions/satisfies.js'
import type { ProvisionHost } from './provision-host.js'
import { runTool } from './run-tool.js'

export interface FoundPython {
  /** Absolute path of the first that is in the range. */
  readonly file?: string
  /** Versions of those that are not, each once. */
  readonly others: readonly string[]
}

interface Search {
  readonly host: ProvisionHost
  readonly signal: AbortSignal
}

/** Finds a Python on PATH by its version: the usual one, else one with its version in its name, the newest first. */
export async function findPython(range: string, { host, signal }: Search): Promise<FoundPython> {
  const others = new Set<string>()
  for (const name of NAMES) {
    const file = await findExecutable(name, { path: host.env['PATH'] ?? '', ...defined({ home: host.env['HOME'] }) })
    const version = file === undefined ? undefined : await pythonVersion(file, { host, signal })
    if (file === undefined || version === undefined) continue
    if (satisfies(version, range)) return { file, others: [...others] }
    others.add(version)
  }
  return { others: [...others] }
}

const MINOR_MAX = 19
const MINOR_MIN = 8
const NAMES: readonly string[] = [
  'python3',
  ...Array.from({ length: MINOR_MAX - MINOR_MIN + 1 }, (_, index) => `python3.${MINOR_MAX - index}`),
  'python',
]

/** The version of a Python; undefined for a program that prints none. A pre-release counts as its release. */
export async function pythonVersion(file: string, { host, signal }: Search): Promise<string | undefined> {
  const end = await runTool({ file, args: ['--version'], timeoutMs: 5_000, signal }, host)
  // Python 2 prints to stderr.
  return /^Python (\d+\.\d+\.\d+)/.exec(`${end.stdout}${end.stderr}`)?.[1]
}
