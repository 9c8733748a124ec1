import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isAgentprotoError } from '@agentproto/contracts'
import { findVersion } from '@agentproto/manifest/node'
import type { LocatedAgent } from '@agentproto/driver-agent-cli/installation'
import { type CommandContext, endingOf, runManifestCommand } from './manifest-command.js'

/** The result of a version check. */
export interface CheckedVersion {
  readonly version?: string
  /** Whether it lies in the manifest's range. */
  readonly ok: boolean
  readonly detail: string
  /** When the file that was checked last changed, in milliseconds since the epoch. */
  readonly changed: number
}

/**
 * Runs the manifest's version check (AIP-29), locally: no registry is asked. Where the agent prints no version, the version
 * of its npm package counts, if it has one.
 */
export async function checkVersion(found: LocatedAgent, commandContext: CommandContext): Promise<CheckedVersion> {
  const { versionCheck } = commandContext.adapter.manifest
  const { mtimeMs: changed } = await stat(found.file)
  const answer = await askAgent(commandContext)
  const result = answer.output === undefined ? undefined : findVersion(versionCheck, answer.output)
  if (result?.found === true) return { ...verdict(result, versionCheck.range), changed }
  const packaged = await packageVersion(found.file)
  if (packaged !== undefined) {
    const fits = findVersion({ parse: '^(.*)$', range: versionCheck.range }, packaged)
    if (fits.found) {
      const { version, ok, detail } = verdict(fits, versionCheck.range)
      return { version, ok, detail: `${detail}, by its package.json`, changed }
    }
  }
  return { ok: false, detail: answer.why ?? result?.reason ?? 'it printed no version', changed }
}

const verdict = ({ version, inRange }: { readonly version: string; readonly inRange: boolean }, range: string) => ({
  version,
  ok: inRange,
  detail: inRange ? version : `${version} is not in ${range}`,
})

interface AgentVersion {
  readonly output?: string
  readonly why?: string
}

async function askAgent(commandContext: CommandContext): Promise<AgentVersion> {
  const { cmd, timeoutMs } = commandContext.adapter.manifest.versionCheck
  try {
    const end = await runManifestCommand(cmd, commandContext, { timeoutMs })
    return end.exitCode === 0 && !end.timedOut
      ? {
          output: [end.stdout, end.stderr]
            .map((text) => text.trim())
            .filter(Boolean)
            .join('\n'),
        }
      : { why: `${cmd}: ${endingOf(end)}` }
  } catch (thrown) {
    if (isAgentprotoError(thrown) && thrown.code !== 'cancelled') return { why: thrown.message }
    throw thrown
  }
}

/** Version of the npm package that a file belongs to. */
async function packageVersion(file: string): Promise<string | undefined> {
  const metadata = await packageOf(file)
  return typeof metadata?.['version'] === 'string' ? metadata['version'] : undefined
}

/** The package.json that a file below a `node_modules` belongs to. */
export async function packageOf(file: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  for (let folder = dirname(file); folder.includes('node_modules'); folder = dirname(folder)) {
    const metadata = await jsonAt(join(folder, 'package.json'))
    // Folders of a package may have a package.json that only says how its modules are read.
    if (metadata !== undefined && 'name' in metadata && 'version' in metadata) return metadata
  }
  return undefined
}

async function jsonAt(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
