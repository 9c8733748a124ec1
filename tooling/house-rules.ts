import { posix } from 'node:path'
import { ARROWS, TEST_GROUND } from './arrows.ts'
import { importsOf, withoutComments } from './source-files.ts'
import type { Import, SourceFile } from './source-files.ts'

/** The rules of the house that no linter knows. Each returns sentences; none means that the rule holds. */

const SCOPE = '@agentproto/'
export const MAX_LINES = 320
const NAMES_THAT_SAY_NOTHING = /^(?:utils?|helpers?|common|shared|misc)(?:\.|$)/
const MAY_PRINT = ['cli', 'demo-agent']

export interface Manifest {
  /** Folder of the package, relative to the repository. */
  readonly folder: string
  readonly name: string
  readonly dependencies: readonly string[]
  readonly devDependencies: readonly string[]
}

/** Workspace dependencies that the table does not allow. */
export function manifestArrows({ name, dependencies, devDependencies }: Manifest): readonly string[] {
  const from = bare(name)
  const arrows = ARROWS[from]
  if (arrows === undefined) return [`${name} is not in the table of tooling/arrows.ts`]
  const allowed = [...arrows.may, ...(arrows.lazily ?? []), 'contracts']
  const broken = (names: readonly string[], also: readonly string[]): readonly string[] =>
    names.filter((each) => each.startsWith(SCOPE) && ![...allowed, ...also].includes(bare(each)))
  return [
    ...broken(dependencies, []).map((to) => `${name} may not depend on ${to}`),
    ...broken(devDependencies, [...TEST_GROUND, ...(arrows.inTests ?? [])]).map(
      (to) => `${name} may not depend on ${to}, not even in development`,
    ),
  ]
}

/** Imports of a package's source file that the table does not allow, or that reach into another package. */
export function importArrows({ path, text }: SourceFile, { folder, name }: Manifest): readonly string[] {
  return importsOf(text).flatMap((each) => {
    if (reachesOut(each.specifier, path, folder)) return [`${path} reaches out of its package: ${each.specifier}`]
    if (!each.specifier.startsWith(SCOPE)) return []
    if (/^@agentproto\/[^/]+\/src\b/.test(each.specifier))
      return [`${path} imports another package's source: ${each.specifier}`]
    return mayImport(bare(name), each) ? [] : [`${path} may not import ${each.specifier} (${each.how})`]
  })
}

function mayImport(from: string, { specifier, how }: Import): boolean {
  const to = bare(specifier)
  const arrows = ARROWS[from]
  const lazily = how !== 'static' && arrows?.lazily?.includes(to)
  return to === 'contracts' || to === from || arrows?.may.includes(to) || lazily || false
}

function reachesOut(specifier: string, path: string, folder: string): boolean {
  if (!specifier.startsWith('.')) return false
  return !posix.join(posix.dirname(path), specifier).startsWith(`${folder}/`)
}

/** `@agentproto/manifest/node` → `manifest`. */
const bare = (specifier: string): string => specifier.slice(SCOPE.length).split('/')[0] ?? ''

/** Files and folders whose name says nothing of what they know. */
export function emptyNames({ path }: SourceFile): readonly string[] {
  return path.split('/').some((part) => NAMES_THAT_SAY_NOTHING.test(part))
    ? [`${path} has a name that says nothing; name it for what it knows`]
    : []
}

/** Files in which a noun is missing. */
export function tooLong({ path, text }: SourceFile): readonly string[] {
  const lines = text.split('\n').length - 1
  return lines > MAX_LINES ? [`${path} has ${lines} lines, more than ${MAX_LINES}: a noun is missing`] : []
}

/** Output that does not go through a stream or a logger that the host owns. */
export function prints({ path, text }: SourceFile, { name }: Manifest): readonly string[] {
  if (MAY_PRINT.includes(bare(name))) return []
  return /\bconsole\s*[.[]/.test(withoutComments(text)) ? [`${path} writes to the console of its host`] : []
}

/**
 * Imports of zod that keep all of it in a bundle: of a namespace only what is used stays, of the object `z` everything
 * does, the texts of forty languages too, 400 kB that a gateway would hold in memory.
 */
export function wholeZod({ path, text }: SourceFile): readonly string[] {
  return /^\s*import\s+(?!type\b)(?!\*\s+as\b)[^'"`;()=]*?\bfrom\s*['"]zod['"]/m.test(withoutComments(text))
    ? [`${path} imports all of zod; write: import * as z from 'zod'`]
    : []
}
