import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AgentprotoError, defined, isRecord } from '@agentproto/contracts'
import { type ManifestProblem, parseConfig } from '@agentproto/manifest'
import writeFileAtomic from 'write-file-atomic'

export type ConfigTree = Readonly<Record<string, unknown>>

/** The content of the file; empty when there is no file. @throws `invalid_request` naming the first problem */
export async function readConfigFile(path: string): Promise<ConfigTree> {
  const text = await readFile(path, 'utf8').catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return undefined
    throw new AgentprotoError('invalid_request', `${path} cannot be read`, { given: thrown.message, cause: thrown })
  })
  if (text === undefined) return {}
  check(text, path)
  return JSON.parse(text) as ConfigTree
}

/** Replaces the file atomically. @throws `invalid_request` when it would be invalid; the file is then unchanged */
export async function writeConfigFile(path: string, tree: ConfigTree): Promise<void> {
  const text = `${JSON.stringify(tree, undefined, 2)}\n`
  check(text, path)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFileAtomic(path, text, { mode: 0o600 }).catch((cause: unknown) => {
    throw new AgentprotoError('storage_failed', `${path} cannot be written`, { cause })
  })
}

export function valueAt(tree: ConfigTree, path: readonly string[]): unknown {
  let value: unknown = tree
  for (const part of path) value = groupOf(value)?.[part]
  return value
}

/** The tree with a value set, or removed if undefined. Empty branches are removed, too. */
export function withValue(tree: ConfigTree, [name = '', ...rest]: readonly string[], value: unknown): ConfigTree {
  const { [name]: before, ...others } = tree
  const inner = rest.length === 0 ? value : withValue(groupOf(before) ?? {}, rest, value)
  const isRemoved = inner === undefined || (rest.length > 0 && isRecord(inner) && Object.keys(inner).length === 0)
  return isRemoved ? others : { ...tree, [name]: inner }
}

/** `true` and `false` in place of a group of keys stand for its `enabled`. */
const groupOf = (value: unknown): ConfigTree | undefined =>
  typeof value === 'boolean' ? { enabled: value } : isRecord(value) ? value : undefined

function check(text: string, path: string): void {
  const result = parseConfig(text, { path })
  if (result.ok) return
  const { problems } = result
  const { message = 'unknown', line = 1, suggestion, expected, given }: Partial<ManifestProblem> = problems[0] ?? {}
  throw new AgentprotoError('invalid_request', `The configuration is invalid: ${message}`, {
    ...defined({ expected, given }),
    hint: suggestion === undefined ? `Fix ${path}, line ${line}` : `Did you mean ${suggestion}?`,
    data: { problems },
  })
}
