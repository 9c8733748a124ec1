import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { asRecord, asString, isAgentprotoError, type Json, parseJson } from '@agentproto/contracts'
import { findVersion } from '@agentproto/manifest/node'
import { launchHints, type LocatedAgent } from '@agentproto/driver-agent-cli/installation'
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
  const { output, why } = await askAgent(commandContext)
  const printed = output === undefined ? undefined : findVersion(versionCheck, output)
  if (printed?.found === true) return { ...verdict(printed, versionCheck.range), changed }
  const declared = await declaredVersion(found, commandContext)
  return { ...(declared ?? { ok: false, detail: why ?? printed?.reason ?? 'it printed no version' }), changed }
}

/** The version that the files of an agent have: its npm package, or the entry of a registry that its manifest was written from. */
async function declaredVersion(
  { file, place }: LocatedAgent,
  { adapter: { manifest } }: CommandContext,
): Promise<Omit<CheckedVersion, 'changed'> | undefined> {
  const { range } = manifest.versionCheck
  const packaged = findVersion({ parse: WHOLE, range }, asString((await packageOf(file))['version']) ?? '')
  if (packaged.found) return placed(verdict(packaged, range), 'by its package.json')
  const { registryVersion } = launchHints(manifest)
  // A program on PATH need not be the one that the entry names. Some entries have a version that is no semantic one.
  if (place !== 'prefix' || registryVersion === undefined) return undefined
  const entry = findVersion({ parse: WHOLE, range }, registryVersion)
  if (entry.found) return placed(verdict(entry, range), 'by its entry in the registry')
  return range === '*'
    ? { version: registryVersion, ok: true, detail: `${registryVersion}, by its entry in the registry` }
    : undefined
}

const WHOLE = '^(.*)$'

const placed = <T extends { readonly detail: string }>(found: T, by: string): T => ({
  ...found,
  detail: `${found.detail}, ${by}`,
})

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
    if (end.exitCode !== 0 || end.timedOut) return { why: `${cmd}: ${endingOf(end)}` }
    return { output: `${end.stdout.trim()}\n${end.stderr.trim()}`.trim() }
  } catch (thrown) {
    if (isAgentprotoError(thrown) && thrown.code !== 'cancelled') return { why: thrown.message }
    throw thrown
  }
}

/** The package.json that a file below a `node_modules` belongs to; without members where there is none. */
export async function packageOf(file: string): Promise<Json> {
  for (let folder = dirname(file); folder.includes('node_modules'); folder = dirname(folder)) {
    const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => '')
    const metadata = asRecord(parseJson(text))
    // Folders of a package may have a package.json that only says how its modules are read.
    if ('name' in metadata && 'version' in metadata) return metadata
  }
  return {}
}
