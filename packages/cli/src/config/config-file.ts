import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AgentprotoError } from '@agentproto/contracts'
import { type ManifestProblem, parseConfig } from '@agentproto/manifest'

export type ConfigTree = Readonly<Record<string, unknown>>

/** What the file says; an empty tree where there is none. @throws `invalid_request` with the first problem's place */
export async function readConfigFile(path: string): Promise<ConfigTree> {
  const text = await readFile(path, 'utf8').catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return undefined
    throw new AgentprotoError('invalid_request', `${path} cannot be read`, { given: thrown.message, cause: thrown })
  })
  if (text === undefined) return {}
  check(text, path)
  return JSON.parse(text) as ConfigTree
}

/** Replaces the file as a whole. @throws `invalid_request` when a gateway would refuse it; the file is then as it was */
export async function writeConfigFile(path: string, tree: ConfigTree): Promise<void> {
  const text = `${JSON.stringify(tree, undefined, 2)}\n`
  check(text, path)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const aside = `${path}.${process.pid}-${process.hrtime.bigint()}`
  try {
    await writeFile(aside, text, { mode: 0o600, flag: 'wx' })
    await rename(aside, path)
  } catch (thrown) {
    await rm(aside, { force: true })
    throw new AgentprotoError('storage_failed', `${path} cannot be written`, { cause: thrown })
  }
}

export function valueAt(tree: ConfigTree, path: readonly string[]): unknown {
  let value: unknown = tree
  for (const part of path) value = isTree(value) ? value[part] : undefined
  return value
}

/** The tree with another value at a place; without it for undefined. Branches that become empty go, too. */
export function withValue(tree: ConfigTree, [name = '', ...rest]: readonly string[], value: unknown): ConfigTree {
  const { [name]: before, ...others } = tree
  const inner = rest.length === 0 ? value : withValue(isTree(before) ? before : {}, rest, value)
  const isGone = inner === undefined || (rest.length > 0 && isTree(inner) && Object.keys(inner).length === 0)
  return isGone ? others : { ...tree, [name]: inner }
}

const isTree = (value: unknown): value is ConfigTree =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function check(text: string, path: string): void {
  const result = parseConfig(text, { path })
  if (result.ok) return
  throw refusal(result.problems, path)
}

function refusal(problems: readonly ManifestProblem[], path: string): AgentprotoError {
  const [first] = problems
  return new AgentprotoError('invalid_request', `The configuration is not valid: ${first?.message ?? 'unknown'}`, {
    ...(first?.expected === undefined ? {} : { expected: first.expected }),
    ...(first?.given === undefined ? {} : { given: first.given }),
    hint:
      first?.suggestion === undefined
        ? `It is in ${path}, line ${first?.line ?? 1}`
        : `Did you mean ${first.suggestion}?`,
    data: { problems },
  })
}
