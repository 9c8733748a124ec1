import { readFileSync } from 'node:fs'
import { parseRegistry, type RegistryEntry } from '@agentproto/acp-registry'

/** Entries of the public registry that have what surprises an importer, without their descriptions. */
export const SAMPLE_TEXT = readFileSync(new URL('fixtures/registry.json', import.meta.url), 'utf8')

export const sampleEntry = (id: string): RegistryEntry => {
  const entry = parseRegistry(SAMPLE_TEXT).agents.find((each) => each.id === id)
  if (entry === undefined) throw new Error(`The fixture has no ${id}`)
  return entry
}

/** An entry that is good, with other members. */
export const entryWith = (members: object): object => ({
  id: 'sample',
  name: 'Sample',
  version: '1.2.3',
  description: 'A sample.',
  distribution: { npx: { package: 'sample@1.2.3' } },
  ...members,
})

export const documentOf = (...agents: readonly unknown[]): string => JSON.stringify({ version: '1.0.0', agents })
