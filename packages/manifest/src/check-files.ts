import { basename } from 'node:path'
import { parseAcp } from './parse-acp.js'
import { parseSandbox } from './parse-sandbox.js'
import { parseSecrets } from './parse-secrets.js'
import type { ManifestProblem } from './problem.js'
import { readAgentCli } from './read-agent-cli.js'
import { readText } from './read-text.js'

/** What was found in one of the files that were asked for. */
export interface CheckedFile {
  readonly path: string
  readonly ok: boolean
  /** Errors and warnings, those of referenced files included. */
  readonly problems: readonly ManifestProblem[]
}

/**
 * Checks manifest files or folders: AGENT-CLI.md with all that it refers to, and ACP.md, SECRETS.md and
 * SANDBOX.md (also `name.ACP.md` and so on) each alone. Any other file is taken for an AGENT-CLI.md.
 */
export async function checkManifestFiles(paths: readonly string[]): Promise<readonly CheckedFile[]> {
  const checked: CheckedFile[] = []
  // One after the other: a thousand files must not mean a thousand open descriptors.
  for (const path of paths) checked.push(await checkFile(path))
  return checked
}

const PARSERS = { 'ACP.md': parseAcp, 'SECRETS.md': parseSecrets, 'SANDBOX.md': parseSandbox } as const

async function checkFile(path: string): Promise<CheckedFile> {
  const name = basename(path)
  const kind = (Object.keys(PARSERS) as (keyof typeof PARSERS)[]).find(
    (suffix) => name === suffix || name.endsWith(`.${suffix}`),
  )
  if (kind === undefined) {
    const result = await readAgentCli(path)
    return { path, ok: result.ok, problems: result.ok ? result.warnings : result.problems }
  }
  const read = await readText(path)
  if (!read.ok) return { path, ok: false, problems: read.problems }
  const result = PARSERS[kind](read.text, { path })
  return { path, ok: result.ok, problems: result.ok ? result.warnings : result.problems }
}
