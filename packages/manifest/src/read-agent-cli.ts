import { dirname, join } from 'node:path'
import type { AgentCliManifest, SandboxProfile } from './agent-cli-manifest.js'
import { capabilityProblems } from './capability-subset.js'
import { given } from './given.js'
import { parseAcp } from './parse-acp.js'
import type { AcpProfile } from './parse-acp.js'
import { agentCliKind } from './parse-agent-cli.js'
import { parseManifestAt } from './parse-manifest.js'
import type { ParseResult, PlacedResult } from './parse-manifest.js'
import { parseSandbox } from './parse-sandbox.js'
import { parseSecrets } from './parse-secrets.js'
import type { SecretsManifest } from './parse-secrets.js'
import type { ManifestProblem } from './problem.js'
import { parseRunner } from './parse-runner.js'
import { readText } from './read-text.js'
import type { ReadText } from './read-text.js'
import { secretProblems } from './secret-references.js'

/** A manifest with everything that it refers to. */
export interface LoadedAgentCli {
  /** Path of the AGENT-CLI.md. */
  readonly path: string
  /** Folder that its references are relative to. */
  readonly directory: string
  readonly manifest: AgentCliManifest
  readonly acp?: AcpProfile
  readonly secrets?: SecretsManifest
  readonly sandbox: SandboxProfile
}

export type ReadResult =
  | ({ readonly ok: true; readonly warnings: readonly ManifestProblem[] } & LoadedAgentCli)
  | { readonly ok: false; readonly problems: readonly ManifestProblem[] }

export interface ReadAgentCliOptions {
  /** Sandbox providers that the host registers beside the built-in ones. */
  readonly sandboxProviders?: readonly string[]
}

/**
 * Reads and checks an AGENT-CLI.md, given as a file or as the folder that holds it, with the ACP.md,
 * SECRETS.md, SANDBOX.md and RUNNER.md that it refers to (AIP-45). Problems of every file come at once.
 * Never throws for what the files hold or lack.
 */
export const readAgentCli = async (path: string, options: ReadAgentCliOptions = {}): Promise<ReadResult> =>
  readAgentCliAmong(path, options, new Map())

/** What references led to, by kind and path; many manifests may share a file, and it is read once. */
export type ReadReferences = Map<string, Referenced<unknown>>

interface Referenced<T> {
  readonly path: string
  readonly read: ReadText
  readonly result?: ParseResult<T>
}

/** The same for one of many manifests. */
export function readAgentCliAmong(path: string, options: ReadAgentCliOptions, references: ReadReferences): ReadResult {
  const named = readText(path)
  const inFolder = !named.ok && named.isFolder
  const file = inFolder ? join(path, 'AGENT-CLI.md') : path
  const read = inFolder ? readText(file) : named
  if (!read.ok) return { ok: false, problems: read.problems }
  const parsed = parseManifestAt(read.text, { path: file }, agentCliKind(options.sandboxProviders))
  if (!parsed.result.ok) return parsed.result
  return loadReferences({ path: file, parsed, manifest: parsed.result.manifest, options, references })
}

interface Loading {
  readonly path: string
  readonly parsed: PlacedResult<AgentCliManifest>
  readonly manifest: AgentCliManifest
  readonly options: ReadAgentCliOptions
  readonly references: ReadReferences
}

function loadReferences({ path, parsed, manifest, options, references }: Loading): ReadResult {
  const { context } = parsed
  const directory = dirname(path)
  const read = referenceReader(directory, context, references)
  const sandboxOptions = given('sandboxProviders', options.sandboxProviders)
  const { sandbox: source, auth, runner } = manifest
  const acp = manifest.protocol === 'acp' ? read(['acp'], manifest.acp, parseAcp) : undefined
  const secrets = auth?.ref === undefined ? undefined : read(['auth', 'ref'], auth.ref, parseSecrets)
  const sandbox =
    source.from === 'inline'
      ? source.profile
      : read(['sandbox'], source.path, (text, at) => parseSandbox(text, { ...at, ...sandboxOptions }))
  if (typeof runner === 'string') read(['runner'], runner, parseRunner)
  if (acp !== undefined) capabilityProblems(context, manifest.capabilities, acp)
  if (secrets !== undefined) secretProblems(context, manifest.setup, secrets)
  const problems = context.problems.sorted()
  if (context.problems.failed || sandbox === undefined) return { ok: false, problems }
  return {
    ok: true,
    path,
    directory,
    manifest,
    ...given('acp', acp),
    ...given('secrets', secrets),
    sandbox,
    warnings: problems,
  }
}

type Parse<T> = (text: string, options: { readonly path: string }) => ParseResult<T>

/** Reads one referenced file; what is wrong with it is reported at the reference as well as in the file. */
const referenceReader =
  (directory: string, { problems, at }: PlacedResult<unknown>['context'], references: ReadReferences) =>
  <T>(place: readonly string[], reference: string, parse: Parse<T>): T | undefined => {
    const field = place.join('.')
    const { path, read, result } = readOnce(references, join(directory, reference), { field, parse })
    if (!read.ok) {
      const [problem] = read.problems
      problems.error(read.missing ? 'reference_missing' : 'reference_invalid', at(...place), {
        message: read.missing
          ? `\`${field}\` names a file that is not there: ${path}.`
          : `\`${field}\` names a file that cannot be read: ${problem?.message ?? ''}`,
        expected: 'a path relative to the manifest',
        given: reference,
      })
      return undefined
    }
    if (result === undefined) return undefined
    problems.adopt(result.ok ? result.warnings : result.problems)
    if (result.ok) return result.manifest
    problems.error('reference_invalid', at(...place), {
      message: `\`${field}\` names a file that is not valid.`,
      given: reference,
    })
    return undefined
  }

interface Reading<T> {
  readonly field: string
  readonly parse: Parse<T>
}

function readOnce<T>(references: ReadReferences, path: string, { field, parse }: Reading<T>): Referenced<T> {
  // The field stands for the parser, so that what is kept under it has the parser's type.
  const key = `${field} ${path}`
  const known = references.get(key) as Referenced<T> | undefined
  if (known !== undefined) return known
  const read = readText(path)
  const referenced = read.ok ? { path, read, result: parse(read.text, { path }) } : { path, read }
  references.set(key, referenced)
  return referenced
}
