import { basename, resolve } from 'node:path'
import { findManifests, manifestNameOf } from './find-manifests.js'
import type { ManifestName } from './find-manifests.js'
import { parseAcp } from './parse-acp.js'
import type { ParseResult } from './parse-manifest.js'
import { parseRunner } from './parse-runner.js'
import { parseSandbox } from './parse-sandbox.js'
import { parseSecrets } from './parse-secrets.js'
import { createProblemList } from './problem.js'
import type { ManifestProblem } from './problem.js'
import { readAgentCliAmong } from './read-agent-cli.js'
import type { ReadReferences } from './read-agent-cli.js'
import { readText } from './read-text.js'
import { createSourceText } from './source-text.js'

/** What was found in one of the files that were asked for. */
export interface CheckedFile {
  readonly path: string
  readonly ok: boolean
  /** Errors and warnings, those of referenced files included. */
  readonly problems: readonly ManifestProblem[]
}

/**
 * Checks manifest files, and all that folders hold: AGENT-CLI.md with what it refers to, and ACP.md,
 * SECRETS.md, SANDBOX.md and RUNNER.md (also `name.ACP.md` and so on) each alone. Any other file is taken for
 * an AGENT-CLI.md. What a folder's manifests refer to is told with them and not a second time.
 * @param paths files and folders
 * @returns one entry a file, in the order of the paths, a folder's files in the order of theirs
 */
export async function checkManifestFiles(paths: readonly string[]): Promise<readonly CheckedFile[]> {
  const references: ReadReferences = new Map()
  const targets = (await Promise.all(paths.map(targetsOf))).flat()
  const checked = targets.map((target) => checkTarget(target, references))
  const told = new Set([...references.keys()].map((key) => resolve(key.slice(key.indexOf(' ') + 1))))
  return checked.filter((_, index) => {
    const target = targets[index]
    const byReference = target?.found === true && manifestNameOf(basename(target.path)) !== 'AGENT-CLI.md'
    return !(byReference && told.has(resolve(target.path)))
  })
}

interface Target {
  readonly path: string
  /** It was come across in a folder. */
  readonly found: boolean
  readonly isEmptyFolder?: boolean
}

async function targetsOf(path: string): Promise<readonly Target[]> {
  // A path with the name of a manifest is most likely that: no need to ask the disk twice.
  const inside = manifestNameOf(basename(path)) === undefined ? await findManifests(path) : undefined
  if (inside === undefined) return [{ path, found: false }]
  if (inside.length === 0) return [{ path, found: false, isEmptyFolder: true }]
  return inside.map((file) => ({ path: file, found: true }))
}

type Parse = (text: string, options: { readonly path: string }) => ParseResult<unknown>

const PARSERS: Readonly<Record<Exclude<ManifestName, 'AGENT-CLI.md'>, Parse>> = {
  'ACP.md': parseAcp,
  'SECRETS.md': parseSecrets,
  'SANDBOX.md': parseSandbox,
  'RUNNER.md': parseRunner,
}

function checkTarget({ path, isEmptyFolder }: Target, references: ReadReferences): CheckedFile {
  if (isEmptyFolder === true) return { path, ok: false, problems: noManifest(path) }
  const name = manifestNameOf(basename(path)) ?? 'AGENT-CLI.md'
  if (name === 'AGENT-CLI.md') {
    const result = readAgentCliAmong(path, {}, references)
    return { path, ok: result.ok, problems: result.ok ? result.warnings : result.problems }
  }
  const read = readText(path)
  if (!read.ok) return { path, ok: false, problems: read.problems }
  const result = PARSERS[name](read.text, { path })
  return { path, ok: result.ok, problems: result.ok ? result.warnings : result.problems }
}

function noManifest(path: string): readonly ManifestProblem[] {
  const problems = createProblemList(createSourceText('', path))
  problems.error('file_unreadable', 0, {
    message: 'There is no manifest in the folder.',
    expected: 'an AGENT-CLI.md in it or below it',
  })
  return problems.sorted()
}
