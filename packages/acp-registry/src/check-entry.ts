import { createHash } from 'node:crypto'
import { defined } from '@agentproto/contracts'
import * as z from 'zod'
import { displayText, httpsAddress, isHarmless } from './entry-text.js'
import { isTooComplex, sortedJson } from './entry-json.js'
import { isLoopbackHttp } from './registry-address.js'
import {
  REGISTRY_PLATFORMS,
  type RegistryBinary,
  type RegistryDistribution,
  type RegistryEntry,
} from './registry-entry.js'

/** The entry, if it can be used, and what is wrong with it, one sentence each. */
export interface CheckedEntry {
  readonly entry?: RegistryEntry
  readonly faults: readonly string[]
}

/**
 * Checks one value of the list `agents`. Never throws for its content.
 * @param from Where the registry was read; absent for a file of the user
 */
export function checkEntry(value: unknown, from?: URL): CheckedEntry {
  if (isTooComplex(value)) return { faults: ['The entry is nested too deeply, or has too many members.'] }
  const result = entrySchema.safeParse(value)
  if (!result.success) return { faults: result.error.issues.slice(0, FAULTS_MAX).map(faultOf) }
  const { data } = result
  const name = displayText(data.name, NAME_CHARS_MAX)
  if (name === '') return { faults: ['`name` has no character that can be shown.'] }
  const { links, faults } = linksOf(data)
  const { targets, refused } = targetsOf(data.distribution.binary ?? {}, from)
  const entry = {
    id: data.id,
    name,
    version: data.version,
    description: displayText(data.description, DESCRIPTION_CHARS_MAX) || name,
    authors: (data.authors ?? []).slice(0, AUTHORS_MAX).map((author) => displayText(author, NAME_CHARS_MAX)),
    ...defined({ license: displayText(data.license ?? '', NAME_CHARS_MAX) || undefined }),
    ...links,
    distribution: distributionOf(data.distribution, targets),
    sha256: createHash('sha256').update(sortedJson(value)).digest('hex'),
  }
  return { entry, faults: [...faults, ...refused] }
}

const FAULTS_MAX = 5
const NAME_CHARS_MAX = 120
const DESCRIPTION_CHARS_MAX = 1_000
const AUTHORS_MAX = 20

/** What decides what is run: no character that hides or moves others on a screen. */
const exact = (chars: number) => z.string().max(chars).refine(isHarmless, 'contains control characters')

const launch = {
  args: z.array(exact(4_096)).max(64).nullish(),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,199}$/, 'is not the name of a variable'), exact(4_096))
    .nullish(),
}

const packageSchema = z.object({
  package: exact(300).min(1),
  cmd: exact(1_024).min(1).nullish(),
  ...launch,
})

const binarySchema = z.object({
  archive: exact(2_048).refine((text) => URL.canParse(text), 'is not an absolute address'),
  cmd: exact(1_024).min(1),
  sha256: z
    .string()
    .regex(/^[A-Fa-f0-9]{64}$/, 'is not a SHA-256')
    .nullish(),
  ...launch,
})

// Loose at every level: the format has new keys now and then, and a new way or platform is not ours to refuse.
const entrySchema = z.object({
  id: z
    .string()
    .regex(/^[a-z][a-z0-9-]{1,63}$/, 'is not 2 to 64 lower-case letters, digits and hyphens after a letter'),
  name: z.string().min(1).max(10_000),
  version: z.string().regex(/^[A-Za-z0-9][\w.+-]{0,63}$/, 'is not a version'),
  description: z.string().max(100_000),
  authors: z.array(z.string().max(10_000)).nullish(),
  license: z.string().max(10_000).nullish(),
  repository: z.string().nullish(),
  website: z.string().nullish(),
  icon: z.string().nullish(),
  distribution: z.object({
    npx: packageSchema.nullish(),
    uvx: packageSchema.nullish(),
    binary: z.object(Object.fromEntries(REGISTRY_PLATFORMS.map((key) => [key, binarySchema.nullish()]))).nullish(),
  }),
})

type EntryDocument = z.infer<typeof entrySchema>

const faultOf = ({ path, message }: { readonly path: readonly PropertyKey[]; readonly message: string }): string => {
  const place = displayText(path.map(String).join('.'), NAME_CHARS_MAX)
  return place === '' ? `The entry is not usable: ${message}.` : `\`${place}\`: ${message}.`
}

const LINKS = ['repository', 'website', 'icon'] as const

/** Links are for people: one that cannot be opened safely is left out, and the entry stays. */
function linksOf(data: EntryDocument) {
  const links: Partial<Record<(typeof LINKS)[number], string>> = {}
  const faults: string[] = []
  for (const key of LINKS) {
    const given = data[key] ?? ''
    const address = httpsAddress(given)
    if (address !== undefined) links[key] = address
    else if (given !== '') faults.push(`\`${key}\` is not an https address and is left out.`)
  }
  return { links, faults }
}

/**
 * The downloads of an entry. A registry elsewhere may not lead to http on this machine, as a redirect may not: services there trust
 * who is on the same machine.
 */
function targetsOf(binary: NonNullable<EntryDocument['distribution']['binary']>, from: URL | undefined) {
  const mayBeHere = from === undefined || isLoopbackHttp(from)
  const [targets, refused]: [(readonly [string, RegistryBinary])[], string[]] = [[], []]
  for (const platform of REGISTRY_PLATFORMS) {
    const target = binary[platform]
    if (!target) continue
    if (mayBeHere || !isLoopbackHttp(new URL(target.archive))) targets.push([platform, binaryOf(target)])
    else refused.push(`\`distribution.binary.${platform}\` leads to this machine and is left out.`)
  }
  return { targets, refused }
}

function distributionOf(
  { npx, uvx }: EntryDocument['distribution'],
  targets: readonly (readonly [string, RegistryBinary])[],
): RegistryDistribution {
  return defined({
    npx: npx ? { package: npx.package, ...launchOf(npx) } : undefined,
    uvx: uvx ? { package: uvx.package, ...launchOf(uvx) } : undefined,
    binary: targets.length === 0 ? undefined : Object.fromEntries(targets),
  })
}

function binaryOf({ archive, sha256, cmd, ...rest }: z.infer<typeof binarySchema>): RegistryBinary {
  return { archive, ...launchOf(rest), cmd, ...defined({ sha256: sha256?.toLowerCase() }) }
}

const launchOf = ({ cmd, args, env }: Partial<Pick<z.infer<typeof packageSchema>, 'cmd' | 'args' | 'env'>>) => ({
  ...defined({ cmd: cmd ?? undefined }),
  args: args ?? [],
  env: env ?? {},
})
