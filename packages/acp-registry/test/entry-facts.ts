import { readFileSync } from 'node:fs'
import { REGISTRY_PLATFORMS } from '@agentproto/acp-registry'

interface EntryFacts {
  readonly id: string
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly distribution: Record<string, unknown>
}

/** The entries of `fixtures/entries.tsv`, as a registry document has them. */
export const ENTRY_FACTS: readonly EntryFacts[] = readEntries()

/** One of them. */
export function entryFacts(id: string): EntryFacts {
  const found = ENTRY_FACTS.find((entry) => entry.id === id)
  if (found === undefined) throw new Error(`There is no ${id} in entries.tsv`)
  return found
}

function readEntries(): EntryFacts[] {
  const text = readFileSync(new URL('fixtures/entries.tsv', import.meta.url), 'utf8')
  const entries: EntryFacts[] = []
  for (const line of text.split('\n')) {
    const [first = '', ...rest] = line.split('\t')
    const [version = '', license = ''] = rest
    if (first !== '' && !first.startsWith('#'))
      entries.push({ id: first, name: first, version, description: first, license, distribution: {} })
    else if (rest.length > 0) addWay(entries.at(-1)?.distribution ?? {}, rest)
  }
  return entries
}

function addWay(distribution: Record<string, unknown>, fields: readonly string[]): void {
  const [way = '', target, cmd = '-', args = '[]', env = '{}'] = fields
  const launch = { ...(cmd === '-' ? {} : { cmd }), args: JSON.parse(args) as unknown, env: JSON.parse(env) as unknown }
  if (REGISTRY_PLATFORMS.some((platform) => platform === way)) {
    const { binary = {} } = distribution
    distribution['binary'] = { ...(binary as object), [way]: { archive: target, ...launch } }
  } else distribution[way] = { package: target, ...launch }
}
