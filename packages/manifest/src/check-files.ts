import { basename, resolve } from 'node:path'
import { findManifests } from './find-manifests.js'
import { type ManifestName, manifestNameOf } from './manifest-name.js'
import { parseAcp } from './acp-profile.js'
import type { ParseResult } from './parse-manifest.js'
import { parseRunner } from './runner-profile.js'
import { parseSandbox } from './sandbox-profile.js'
import { parseSecrets } from './secrets-manifest.js'
import { type ManifestProblem, ProblemList } from './problem.js'
import { parseWithReferences, type ReadReferences, readWithReferences } from './read-agent-cli.js'
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
 * Checks manifest files, and all manifests in folders: AGENT-CLI.md with the files it refers to, and ACP.md,
 * SECRETS.md, SANDBOX.md and RUNNER.md (also `name.ACP.md` and so on) each alone. Any other file is checked as an
 * AGENT-CLI.md. A file in a folder that a manifest refers to is reported with that manifest, and not again.
 * @param paths files and folders
 * @returns one entry a file, in the order of the paths, a folder's files in the order of their paths
 */
export async function checkManifestFiles(paths: readonly string[]): Promise<readonly CheckedFile[]> {
  const references: ReadReferences = new Map()
  const targets = (await Promise.all(paths.map(targetsOf))).flat()
  const agents = new Map(
    targets.filter(({ kind }) => kind === 'AGENT-CLI.md').map((target) => [target, checkAgentCli(target, references)]),
  )
  const referenced = new Set([...references.values()].map(({ path }) => resolve(path)))
  return targets.flatMap((target) => {
    if (target.found && target.kind !== 'AGENT-CLI.md' && referenced.has(resolve(target.path))) return []
    return [agents.get(target) ?? checkOther(target)]
  })
}

export interface GivenText {
  readonly kind: ManifestName
  /** What problems call it; what it refers to is relative to the folder of this path. */
  readonly path: string
}

/** Checks a manifest that is in no file, with the files that it refers to. */
export function checkManifestText(text: string, { kind, path }: GivenText): CheckedFile {
  const result =
    kind === 'AGENT-CLI.md' ? parseWithReferences(text, { path }, new Map()) : PARSERS[kind](text, { path })
  return { path, ok: result.ok, problems: result.ok ? result.warnings : result.problems }
}

interface Target {
  readonly path: string
  readonly kind: ManifestName | 'empty folder'
  /** It was found in a folder, not named by the caller. */
  readonly found: boolean
}

async function targetsOf(path: string): Promise<readonly Target[]> {
  // A path with the name of a manifest is most likely a file: no need to look for a folder.
  const kind = manifestNameOf(basename(path))
  const inside = kind === undefined ? await findManifests(path) : undefined
  if (inside === undefined) return [{ path, kind: kind ?? 'AGENT-CLI.md', found: false }]
  if (inside.length === 0) return [{ path, kind: 'empty folder', found: false }]
  return inside.map((file) => ({ path: file, kind: manifestNameOf(basename(file)) ?? 'AGENT-CLI.md', found: true }))
}

function checkAgentCli({ path }: Target, references: ReadReferences): CheckedFile {
  const result = readWithReferences(path, {}, references)
  return { path, ok: result.ok, problems: result.ok ? result.warnings : result.problems }
}

type Parse = (text: string, options: { readonly path: string }) => ParseResult<unknown>

const PARSERS: Readonly<Record<Exclude<ManifestName, 'AGENT-CLI.md'>, Parse>> = {
  'ACP.md': parseAcp,
  'SECRETS.md': parseSecrets,
  'SANDBOX.md': parseSandbox,
  'RUNNER.md': parseRunner,
}

function checkOther({ path, kind }: Target): CheckedFile {
  if (kind === 'empty folder' || kind === 'AGENT-CLI.md') return { path, ok: false, problems: noManifest(path) }
  const read = readText(path)
  if (!read.ok) return { path, ok: false, problems: read.problems }
  const result = PARSERS[kind](read.text, { path })
  return { path, ok: result.ok, problems: result.ok ? result.warnings : result.problems }
}

function noManifest(path: string): readonly ManifestProblem[] {
  const problems = new ProblemList(createSourceText('', path))
  problems.error('file_unreadable', 0, {
    message: 'The folder contains no manifest.',
    expected: 'an AGENT-CLI.md in the folder or below it',
  })
  return problems.sorted()
}
