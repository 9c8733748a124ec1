import { AgentprotoError, defined } from '@agentproto/contracts'
import type { ObservedAgent } from '@agentproto/contracts/agent'
import {
  type AgentAnswers,
  answersOf,
  formatProblem,
  manifestTemplate,
  observedBlock,
  ownModes,
  parseAcp,
  parseAgentCli,
} from '@agentproto/manifest'
import { stringify } from 'yaml'
import type { Distribution } from './distribution.js'
import { installParts } from './install-methods.js'
import { variablesOf } from './entry-variables.js'
import type { RegistryEntry } from './registry-entry.js'
import { sealed, UNSEALED } from './written-files.js'

/** Where an entry was read. */
export type EntrySource = { readonly url: string } | { readonly file: string }

export interface ManifestOptions {
  /** Default: the id of the entry. */
  readonly slug?: string
  readonly source: EntrySource
  /** Milliseconds since the epoch. */
  readonly addedAt: number
  /** The program of an npm package whose entry does not say it. Default: the name of the package without its scope. */
  readonly program?: string
  /** The version that is installed, where the pinned one is gone. Default: that of the distribution. */
  readonly version?: string
  /** Of the download, where the entry has none: 64 lower-case hexadecimal digits. */
  readonly sha256?: string
  /** Whether npm may run the scripts of the packages that it installs. Default: it skips them. */
  readonly allowScripts?: boolean
  /** What was measured of the installed agent, or why nothing could be. Default: nothing is known of it. */
  readonly observed?: ObservedAgent
}

/** The files of an adapter, by name, for a folder that has its slug. */
export interface AdapterFiles {
  readonly slug: string
  readonly files: ReadonlyMap<'AGENT-CLI.md' | 'ACP.md', string>
}

/**
 * Writes the manifest of an entry: an AGENT-CLI.md and an ACP.md that our own check accepts. What only a handshake can show is
 * declared as absent and listed in `metadata.agentproto.unverified`. Where the entry came from is in `metadata.agentproto.registry`.
 * @throws `manifest_invalid` where the parts do not make a manifest
 */
export function manifestOf(entry: RegistryEntry, distribution: Distribution, options: ManifestOptions): AdapterFiles {
  const { slug = entry.id } = options
  const files = sealed(
    new Map([
      ['AGENT-CLI.md', agentCli(entry, distribution, options)],
      ['ACP.md', acp(entry, options)],
    ] as const),
  )
  const checks = [
    parseAgentCli(files.get('AGENT-CLI.md') ?? '', { path: `${slug}/AGENT-CLI.md` }),
    parseAcp(files.get('ACP.md') ?? '', { path: `${slug}/ACP.md` }),
  ]
  const problems = checks.flatMap((check) => (check.ok ? [] : check.problems))
  if (problems.length === 0) return { slug, files }
  throw new AgentprotoError('manifest_invalid', problems.map(formatProblem).join('\n'), { data: { problems } })
}

function agentCli(entry: RegistryEntry, distribution: Distribution, options: ManifestOptions): string {
  const { name, description } = entry
  const { slug = entry.id } = options
  const { bin, install, requires, hints } = installParts(distribution, options)
  const answers = answersIn(options)
  const { entries, session_modes } = ownModes(answers?.modes ?? [])
  const document = {
    name: slug,
    id: slug,
    description,
    version: '0.1.0',
    bin,
    ...(distribution.args.length === 0 ? {} : { bin_args: distribution.args }),
    install,
    // It may print no version. Then that of its package counts, or that of the entry.
    version_check: { cmd: `${bin} --version`, parse: VERSION, range: '*', timeout_ms: 15_000 },
    ...defined({ requires }),
    // Whether it needs a login is not known: without this block it would count as one that needs none.
    auth: { state: {} },
    sandbox: { provider: 'local', ...environmentOf(distribution) },
    protocol: 'acp',
    acp: './ACP.md',
    ...(answers?.loadSession === true ? { session: { mode: 'resumable' } } : {}),
    capabilities: capabilitiesOf(answers),
    // Its models are only in what was measured: a list of those that are allowed would leave out what a login adds.
    ...(entries.length === 0 ? {} : { modes: entries }),
    metadata: {
      agentproto: {
        ...hints,
        ...(entries.length === 0 ? {} : { session_modes }),
        ...metadataOf(entry, distribution, options),
      },
    },
  }
  return `---\n${yaml(document)}---\n\n# ${name}\n\n${bodyOf(entry, options).join('\n\n')}\n`
}

const VERSION = String.raw`(\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.-]+)?)`

function environmentOf(distribution: Distribution): object {
  const { passed, set } = variablesOf(distribution)
  if (passed.length === 0 && Object.keys(set).length === 0) return {}
  return { env: { ...(passed.length === 0 ? {} : { passthrough: passed }), set } }
}

const capabilitiesOf = (answers: AgentAnswers | undefined): object => ({
  streaming: true,
  tool_calls: true,
  multimodal: answers !== undefined && (answers.image || answers.audio),
  resumable: answers?.loadSession ?? false,
  bidirectional: true,
})

function metadataOf(
  entry: RegistryEntry,
  distribution: Distribution,
  { source, addedAt, observed }: ManifestOptions,
): object {
  const { id, name, version, license, icon, sha256, website, repository } = entry
  const { way } = distribution
  const added_at = new Date(addedAt).toISOString()
  return {
    ...defined({ homepage: website ?? repository }),
    registry: {
      ...source,
      id,
      name,
      version,
      ...defined({ license, icon }),
      way,
      sha256,
      added_at,
      written_sha256: UNSEALED,
    },
    ...(observed === undefined ? {} : { observed: observedBlock(observed) }),
    unverified: unverifiedOf(observed),
  }
}

/** What it answered, where it answered anything. */
const answersIn = ({ observed }: ManifestOptions): AgentAnswers | undefined =>
  observed === undefined || 'failed' in observed ? undefined : answersOf(observed)

function unverifiedOf(observed: ObservedAgent | undefined): readonly string[] {
  if (observed === undefined) return [BEFORE_HANDSHAKE, ...AFTER_HANDSHAKE]
  if ('failed' in observed) return [FAILED_HANDSHAKE, BEFORE_HANDSHAKE, ...AFTER_HANDSHAKE]
  return observed.session === 'opened' ? AFTER_HANDSHAKE : [WITHOUT_SESSION, ...AFTER_HANDSHAKE]
}

const FAILED_HANDSHAKE = 'Whether it speaks ACP at all: its handshake failed'
const WITHOUT_SESSION = 'Its modes and models: without a login it opened no session'
const BEFORE_HANDSHAKE = 'Everything but the form of the manifest: it was written from an entry of a registry'
const AFTER_HANDSHAKE: readonly string[] = [
  'Prompts, tool calls, permission requests and interruption',
  'Login, and how an expired login is shown',
  'Whether the command that prints the version ends by itself',
]

function bodyOf(
  { description, name, license, authors }: RegistryEntry,
  { source }: ManifestOptions,
): readonly string[] {
  const from = 'url' in source ? source.url : source.file
  const facts = [
    license === undefined ? '' : `License: ${license}.`,
    authors.length === 0 ? '' : `By ${authors.join(', ')}.`,
  ]
  return [
    ...(description === name ? [] : [description]),
    ...facts.filter((fact) => fact !== ''),
    `This was written from an entry of the registry ${from}. Edit it as you like; an update of the adapter writes it again.`,
  ]
}

function acp({ id, name }: RegistryEntry, options: ManifestOptions): string {
  const answers = answersIn(options)
  const { slug = id } = options
  const template = manifestTemplate({ id: slug, protocol: 'acp', ...defined({ answers }) }).get('ACP.md') ?? ''
  const known =
    answers === undefined
      ? 'Nothing of it was verified: the agent was not asked. What it offers is declared as absent.'
      : 'The capabilities are those that the agent named at its first handshake.'
  return `${template}\n# ${name} over ACP\n\n${known}\n`
}

const yaml = (value: object): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
