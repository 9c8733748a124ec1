import { posix } from 'node:path'
import { ARROWS, TEST_SUPPORT } from './arrows.ts'
import { importsOf, withoutComments } from './source-files.ts'
import type { Import, SourceFile } from './source-files.ts'

/** Rules of this project that no linter has. Each returns one sentence for each violation. */

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
    ...broken(devDependencies, [...TEST_SUPPORT, ...(arrows.inTests ?? [])]).map(
      (to) => `${name} may not depend on ${to}, not even in development`,
    ),
  ]
}

/** Imports of a source file that the table does not allow, or that use files of another package. */
export function importArrows({ path, text }: SourceFile, { folder, name }: Manifest): readonly string[] {
  return importsOf(text).flatMap((each) => {
    if (leavesPackage(each.specifier, path, folder))
      return [`${path} imports a file outside of its package: ${each.specifier}`]
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

function leavesPackage(specifier: string, path: string, folder: string): boolean {
  if (!specifier.startsWith('.')) return false
  return !posix.join(posix.dirname(path), specifier).startsWith(`${folder}/`)
}

/** `@agentproto/manifest/node` → `manifest`. */
const bare = (specifier: string): string => specifier.slice(SCOPE.length).split('/')[0] ?? ''

/** Files and folders whose names say nothing about their content. */
export function emptyNames({ path }: SourceFile): readonly string[] {
  return path.split('/').some((part) => NAMES_THAT_SAY_NOTHING.test(part))
    ? [`${path} has a name that says nothing; name it for its content`]
    : []
}

/** Files that hold more than one thing. */
export function tooLong({ path, text }: SourceFile): readonly string[] {
  const lines = text.split('\n').length - 1
  return lines > MAX_LINES ? [`${path} has ${lines} lines, more than ${MAX_LINES}: split it by its nouns`] : []
}

/** Libraries that print: output goes through a stream or a logger of the host. */
export function prints({ path, text }: SourceFile, { name }: Manifest): readonly string[] {
  if (MAY_PRINT.includes(bare(name))) return []
  return /\bconsole\s*[.[]/.test(withoutComments(text)) ? [`${path} writes to the console`] : []
}

/**
 * Imports of zod that put all of it into a bundle. Of `import * as z` a bundler keeps what is used; of `import { z }` it
 * keeps everything, with the messages of forty languages: 400 kB in the memory of a gateway.
 */
export function wholeZod({ path, text }: SourceFile): readonly string[] {
  return /^\s*import\s+(?!type\b)(?!\*\s+as\b)[^'"`;()=]*?\bfrom\s*['"]zod['"]/m.test(withoutComments(text))
    ? [`${path} imports all of zod; write: import * as z from 'zod'`]
    : []
}
