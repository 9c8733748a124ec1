import type { AgentCliManifest } from '@agentproto/manifest'

/** A host's hint at `metadata.agentproto.<name>`; what it is worth is the reader's to check. */
export function manifestHint({ metadata }: Pick<AgentCliManifest, 'metadata'>, name: string): unknown {
  return member(member(metadata, 'agentproto'), name)
}

/** An own member of what may be an object. */
export const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined

/** The texts of a hint that may be one text or several. */
export const textsOf = (value: unknown): readonly string[] => [value].flat().filter((text) => typeof text === 'string')

/** Whether a hint is a path to something below the folder that it is joined to. */
export const staysBelow = (path: unknown): path is string =>
  typeof path === 'string' && /^[^/\\\0][^\\\0]*$/.test(path) && !path.split('/').includes('..')
