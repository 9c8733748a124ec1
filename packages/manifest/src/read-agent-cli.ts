import { basename, dirname, join, resolve } from 'node:path'
import { asRecord, defined } from '@agentproto/contracts'
import { type AcpProfile, capabilityRules, parseAcp, transportRules } from './acp-profile.js'
import type { AgentCliManifest, SandboxProfile } from './agent-cli-manifest.js'
import { remoteAddress } from './agent-cli-wire.js'
import { parseAgentCliAt } from './parse-agent-cli.js'
import type { ParseAgentCliOptions, ParseOptions, ParseResult } from './parse-manifest.js'
import type { ManifestProblem } from './problem.js'
import { readText, type ReadText } from './read-text.js'
import type { RuleContext } from './rule-context.js'
import { parseRunner, withRunnerLimits } from './runner-profile.js'
import { parseSandbox } from './sandbox-profile.js'
import { schemas } from './schemas.js'
import { parseSecrets, secretReferenceRules, type SecretsManifest } from './secrets-manifest.js'

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

export type ReadAgentCliOptions = Pick<ParseAgentCliOptions, 'sandboxProviders' | 'anyFolder'>

/**
 * Reads and checks an AGENT-CLI.md, given as a file or as its folder, with the ACP.md,
 * SECRETS.md, SANDBOX.md and RUNNER.md that it refers to (AIP-45). Reports the problems of all files.
 * Never throws for the content of the files, or for a file that is missing.
 */
export const readAgentCli = async (path: string, options: ReadAgentCliOptions = {}): Promise<ReadResult> =>
  readWithReferences(path, options, new Map())

/** The files that references led to, by kind and path: many manifests may share a file, and it is read once. */
export type ReadReferences = Map<string, Referenced<unknown>>

interface Referenced<T> {
  readonly path: string
  readonly read: ReadText
  readonly result?: ParseResult<T>
}

/** `readAgentCli` for one of many manifests. */
export function readWithReferences(path: string, options: ReadAgentCliOptions, references: ReadReferences): ReadResult {
  const named = readText(path)
  const inFolder = !named.ok && named.isFolder
  const file = inFolder ? join(path, 'AGENT-CLI.md') : path
  const read = inFolder ? readText(file) : named
  if (!read.ok) return { ok: false, problems: read.problems }
  const folder = basename(dirname(resolve(file)))
  return parseWithReferences(read.text, { ...options, path: file, folder }, references)
}

/** The same for a text that is in no file. */
export function parseWithReferences(
  text: string,
  options: ParseAgentCliOptions,
  references: ReadReferences,
): ReadResult {
  const { path } = options
  const { result, context } = parseAgentCliAt(text, options)
  const readReference = referenceReader(context, references)
  if (!result.ok) {
    checkReferences(context, readReference, options)
    return { ok: false, problems: context.problems.sorted() }
  }
  const { manifest } = result
  const loaded = loadReferences(manifest, readReference, options)
  if (loaded.acp !== undefined) {
    capabilityRules(context, manifest.capabilities, loaded.acp)
    transportRules(context, remoteAddress(manifest) !== undefined, loaded.acp)
  }
  if (loaded.secrets !== undefined) secretReferenceRules(context, manifest.setup, loaded.secrets)
  const { sandbox } = loaded
  const problems = context.problems.sorted()
  if (context.problems.failed || sandbox === undefined) return { ok: false, problems }
  return { ok: true, path, directory: dirname(path), manifest, ...loaded, sandbox, warnings: problems }
}

type References = Partial<Pick<LoadedAgentCli, 'acp' | 'secrets' | 'sandbox'>>

function loadReferences(manifest: AgentCliManifest, read: ReadReference, options: ReadAgentCliOptions): References {
  const { auth } = manifest
  const sandbox = loadSandbox(manifest, read, options)
  // The secrets of a sandbox are read when they are needed; a file that is missing or wrong is reported now.
  const ref = sandbox?.env.secretsRef
  if (ref !== undefined && ref !== auth?.ref) read(['sandbox', 'env', 'auth', 'ref'], ref, parseSecrets)
  return defined({
    acp: manifest.protocol === 'acp' ? read(['acp'], manifest.acp, parseAcp) : undefined,
    secrets: auth?.ref === undefined ? undefined : read(['auth', 'ref'], auth.ref, parseSecrets),
    sandbox,
  })
}

/** The sandbox with the limits of the runner. */
function loadSandbox(
  { runner, sandbox }: AgentCliManifest,
  read: ReadReference,
  options: ReadAgentCliOptions,
): SandboxProfile | undefined {
  const parse = (text: string, { path }: ParseOptions) => parseSandbox(text, { ...options, path })
  const limits = runner?.from === 'file' ? read(['runner'], runner.path, parseRunner) : runner?.profile
  const profile = sandbox.from === 'inline' ? sandbox.profile : read(['sandbox'], sandbox.path, parse)
  return profile && limits ? withRunnerLimits(profile, limits) : profile
}

/** Reads what a manifest with errors refers to, so that the errors of all files are reported at once. */
function checkReferences({ document }: RuleContext, read: ReadReference, options: ReadAgentCliOptions): void {
  const { acp, auth, protocol, runner, sandbox } = asRecord(document)
  const check = <T>(place: readonly string[], reference: unknown, parse: Parse<T>): void => {
    // The schema has refused any other, which could name a file that is no manifest.
    if (typeof reference === 'string' && REFERENCE.test(reference)) read(place, reference, parse)
  }
  check(['runner'], runner, parseRunner)
  if (protocol === 'acp') check(['acp'], acp, parseAcp)
  check(['auth', 'ref'], asRecord(auth)['ref'], parseSecrets)
  check(['sandbox'], sandbox, (text, { path }) => parseSandbox(text, { ...options, path }))
}

const REFERENCE = new RegExp(schemas.blocks.$defs.mdPath.pattern)

type Parse<T> = (text: string, options: ParseOptions) => ParseResult<T>
type ReadReference = <T>(place: readonly string[], reference: string, parse: Parse<T>) => T | undefined

/** Reads one referenced file; its problems are reported at the reference as well as in the file. */
const referenceReader =
  ({ path: from, problems, at }: RuleContext, references: ReadReferences): ReadReference =>
  (place, reference, parse) => {
    const field = place.join('.')
    const { path, read, result } = readOnce(references, join(dirname(from), reference), { field, parse })
    if (!read.ok)
      return problems.error(read.missing ? 'reference_missing' : 'reference_invalid', at(...place), {
        message: read.missing
          ? `\`${field}\` names a file that does not exist: ${path}.`
          : `\`${field}\` names a file that cannot be read: ${read.problems[0]?.message ?? ''}`,
        expected: 'a path relative to the manifest',
        given: reference,
      })
    if (result === undefined) return undefined
    problems.adopt(result.ok ? result.warnings : result.problems)
    if (result.ok) return result.manifest
    return problems.error('reference_invalid', at(...place), {
      message: `\`${field}\` names a file that has errors.`,
      expected: 'a valid file; its errors are reported below',
      given: reference,
    })
  }

interface Reading<T> {
  readonly field: string
  readonly parse: Parse<T>
}

function readOnce<T>(references: ReadReferences, path: string, { field, parse }: Reading<T>): Referenced<T> {
  // Each field has one parser, so the entry under this key has the type of that parser.
  const key = `${field} ${path}`
  const known = references.get(key) as Referenced<T> | undefined
  if (known !== undefined) return known
  const read = readText(path)
  const referenced = read.ok ? { path, read, result: parse(read.text, { path }) } : { path, read }
  references.set(key, referenced)
  return referenced
}
